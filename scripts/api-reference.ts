/**
 * Writes the API reference of the documentation from the docstrings of every entry point: docs/reference/api/, a page for
 * each area. Everything it reads is in the repository. `npm run docs:api`
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import {
  Application,
  type Context,
  Converter,
  DeclarationReflection,
  ParameterReflection,
  ReflectionKind,
  type TypeDocOptions,
} from "typedoc";
import type { PluginOptions } from "typedoc-plugin-markdown";
import { entryPoints, namesByEntryPoint, type ReferencePage, referencePages } from "./api-reference/reference-pages.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const work = join(root, ".cache/api-reference");
const output = join(root, "docs/reference/api");

const pages = referencePages();
const entryFiles = writeEntryFiles();
await generate();
for (const page of pages) finish(page);
rmSync(join(output, "README.md"));
writeFileSync(join(output, "index.md"), indexPage());

/** A module for each page, which exports its names: what typedoc takes for an entry point becomes a page. */
function writeEntryFiles(): string[] {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const config = { extends: "../../tsconfig.json", include: ["*.ts"], exclude: [] };
  writeFileSync(join(work, "tsconfig.json"), JSON.stringify(config));
  return pages.map(({ id, of, names }) => {
    const file = join(work, `${id}.ts`);
    const source = relative(work, join(root, entryPoints[of] as string))
      .split(sep)
      .join("/");
    const list = names.map(({ name, isType }) => (isType ? `type ${name}` : name));
    writeFileSync(file, `export { ${list.join(", ")} } from "${source}";\n`);
    return file;
  });
}

async function generate(): Promise<void> {
  rmSync(output, { recursive: true, force: true });
  const options: TypeDocOptions & Partial<PluginOptions> = {
    entryPoints: entryFiles,
    tsconfig: join(work, "tsconfig.json"),
    plugin: ["typedoc-plugin-markdown"],
    out: output,
    readme: "none",
    router: "module",
    // `npm run types` has checked them.
    skipErrorChecking: true,
    disableSources: true,
    disableGit: true,
    excludeInternal: true,
    excludePrivate: true,
    githubPages: false,
    sort: ["alphabetical"],
    groupOrder: ["Functions", "Variables", "Classes", "Interfaces", "Type Aliases"],
    validation: false,
    logLevel: "Warn",
    hidePageHeader: true,
    hidePageTitle: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    expandParameters: true,
    useHTMLEncodedBrackets: true,
    sanitizeComments: true,
    useCustomAnchors: true,
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
    classPropertiesFormat: "table",
    typeAliasPropertiesFormat: "table",
    typeDeclarationFormat: "table",
    typeDeclarationVisibility: "compact",
  };
  const app = await Application.bootstrapWithPlugins(options as TypeDocOptions);
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, tidy);
  const project = await app.convert();
  if (project === undefined) throw new Error("typedoc could not read the entry points");
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error("typedoc reported errors");
}

/** Takes away what says nothing: members that a class inherits, those of Node's own types, and made-up names of
 * parameters that are taken apart. */
function tidy({ project }: Context): void {
  for (const reflection of Object.values(project.reflections)) {
    if (reflection instanceof ParameterReflection && reflection.name === "__namedParameters")
      reflection.name = "options";
    if (!(reflection instanceof DeclarationReflection) || !reflection.inheritedFrom) continue;
    const isOfClass = reflection.parent?.kindOf(ReflectionKind.Class) ?? false;
    if ((isOfClass && reflection.name !== "constructor") || reflection.flags.isExternal)
      project.removeReflection(reflection);
  }
}

/** Gives a page its title and says where its names come from. */
function finish({ id, title, intro, of }: ReferencePage): void {
  const file = join(output, `${id}.md`);
  const body = readFileSync(file, "utf8")
    // What looks like an interpolation is text.
    .replaceAll("{{", "&#123;&#123;")
    // Signatures have them, and headings are rules enough.
    .replace(/^#+ Type Parameters\n\n(?:\|.*\n)+\n?/gm, "")
    .replace(/^\*\*\*\n\n?/gm, "")
    // Which member of a base class it stands for is no help to a caller.
    .replace(/^#+ (?:Overrides|Inherited from|Implementation of)\n\n.*\n\n?/gm, "")
    // Only names have anchors; what else is a heading to typedoc is a label, or a group with an anchor of its own.
    .replace(/^####+ (?!.*\{#)(.*)$/gm, "**$1**")
    .replace(
      /^## (\w+(?: \w+)*)$/gm,
      (_, group: string) => `## ${group} {#group-${group.toLowerCase().replaceAll(" ", "-")}}`,
    )
    // Comments cite the interface they follow, which readers of this page do not have.
    .replace(/ \((?:spec|architecture|http\.md|public-api|security\.md)[^()]*\)/g, "")
    .trim();
  const header = ["---", "outline: [2, 3]", "editLink: false", "---", "", `# ${title} {#page}`, "", intro, ""];
  const from = ["```ts", `import { … } from "${of}";`, "```", ""];
  writeFileSync(file, `${[...header, ...from].join("\n")}\n${body}\n`);
}

/** Every name of every entry point, with a link to its place. */
function indexPage(): string {
  const places = new Map(pages.flatMap(({ id }) => [...placesOn(id)]));
  const lines = [
    "---",
    "outline: [2, 2]",
    "editLink: false",
    "---",
    "",
    "# API reference",
    "",
    "What each entry point exports, from the source's own comments. Names that several entry points export are described once.",
    "",
    "| page | from | names |",
    "|---|---|---:|",
    ...pages.map(({ id, title, of, names }) => `| [${title}](${id}.md) | \`${of}\` | ${names.length} |`),
    "",
  ];
  for (const [entryPoint, names] of namesByEntryPoint()) {
    const links = names.map(({ name }) => `[${name}](${placeOf(name, places)})`);
    lines.push(`## ${entryPoint}`, "", `${links.join(" · ")}`, "");
  }
  return lines.join("\n");
}

/** Where the names of a page are, as its headings say: two that differ in case only have different anchors. */
function placesOn(id: string): Map<string, string> {
  const headings = readFileSync(join(output, `${id}.md`), "utf8").matchAll(
    /^### (?:\\?abstract )?([\w$\\]+)(?:\(\))?.* \{#([^}]+)\}$/gim,
  );
  return new Map([...headings].map(([, name = "", anchor]) => [name.replaceAll("\\", ""), `${id}.md#${anchor}`]));
}

function placeOf(name: string, places: ReadonlyMap<string, string>): string {
  const place = places.get(name);
  if (place === undefined) throw new Error(`"${name}" is exported, and has no place in the reference`);
  return place;
}
