/** What a page shows, and where both are. */
export interface DocsPage {
  readonly title: string;
  readonly path: string;
  readonly document: string;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** The page as HTML. Its addresses are relative, because an app may be mounted under a path that it does not know. */
export function docsPage({ title, path, document }: DocsPage): string {
  const folder = path.split("/").at(-1) as string;
  const root = "../".repeat(path.split("/").length - 2);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(title)}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${folder}/swagger-ui.css">
    <link rel="stylesheet" href="${folder}/page.css">
  </head>
  <body>
    <main id="swagger-ui" data-document="${escapeHtml(root + document.slice(1))}"></main>
    <noscript>This page needs JavaScript. The document itself does not: ${escapeHtml(document)}</noscript>
    <script src="${folder}/swagger-ui-bundle.js"></script>
    <script src="${folder}/start.js"></script>
  </body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] as string);
}
