import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { writePlainPages } from "./plain-pages.ts";
import { sidebar } from "./sidebar.ts";

const escapeHtml = (text: string): string =>
  text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign] as string);
/** The address at which the repository's files are edited, as in `https://example.com/acme/keelson/edit/main`. */
const editing = process.env.SITE_EDIT_URL;
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// biome-ignore lint/style/noDefaultExport: VitePress takes the configuration from there
export default defineConfig({
  title: "Keelson",
  description: "A secure REST API from entity definitions, on a plugin-first microkernel.",
  lang: "en",
  cacheDir: here("../../.cache/vitepress"),
  rewrites: { "adr/README.md": "adr/index.md" },
  cleanUrls: false,
  lastUpdated: false,
  buildEnd: ({ outDir }) => writePlainPages(here(".."), outDir),
  metaChunk: true,
  head: [
    ["link", { rel: "icon", type: "image/svg+xml", href: "/mark.svg" }],
    ["meta", { name: "theme-color", content: "#1f5f6b" }],
  ],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    // Colours take most of the build: a test of links and names goes without them.
    ...(process.env.SITE_WITHOUT_COLOURS && {
      highlight: (code: string) => `<pre v-pre tabindex="0"><code>${escapeHtml(code)}</code></pre>`,
    }),
  },
  themeConfig: {
    logo: "/mark.svg",
    nav: [
      { text: "Start", link: "/getting-started" },
      { text: "Guides", link: "/guides/cli", activeMatch: "^/guides/" },
      { text: "Reference", link: "/reference/api/", activeMatch: "^/reference/" },
      { text: "Inside", link: "/architecture", activeMatch: "^/(architecture|principles|adr/)" },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: "local" },
    ...(editing !== undefined && {
      editLink: {
        pattern: `${editing}/docs/:path`,
        text: "Edit this page",
      },
    }),
    docFooter: { prev: "Before", next: "Next" },
    notFound: {
      title: "No such page",
      quote: "The address may have changed. The search and the navigation know all pages there are.",
      linkText: "Go to the first page",
    },
    footer: { message: "Released under the MIT licence." },
  },
});
