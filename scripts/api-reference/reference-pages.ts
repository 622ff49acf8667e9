import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type ExportedName, exportedNames } from "./exported-names.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The package's subpaths and the modules behind them. The first that exports a name is where it is documented. */
export const entryPoints: Readonly<Record<string, string>> = {
  keelson: "src/index.ts",
  "keelson/client": "src/client/index.ts",
  "keelson/express": "src/adapters/express/index.ts",
  "keelson/hono": "src/adapters/hono/index.ts",
  "keelson/next": "src/adapters/next/index.ts",
  "keelson/node": "src/adapters/node/index.ts",
  "keelson/prisma": "src/drivers/prisma/index.ts",
  "keelson/testing": "src/testing/index.ts",
  "keelson/kernel": "src/kernel.ts",
};

interface PageKind {
  readonly id: string;
  readonly title: string;
  readonly intro: string;
  /** The entry point whose names it has. */
  readonly of: string;
  /** Beginnings of the paths of files, below src/; the longest one that fits decides. */
  readonly files: readonly string[];
}

/** Pages in the order of the navigation. */
const kinds: readonly PageKind[] = [
  {
    id: "apps",
    title: "Apps and configuration",
    intro: "Making an app, its configuration and limits, and the client in the process.",
    of: "keelson",
    files: ["keelson.ts", "gate/client/", "gate/ports/", "kernel/http/", "kernel/request/"],
  },
  {
    id: "entities",
    title: "Entities and fields",
    intro: "The language that definitions are written in.",
    of: "keelson",
    files: ["entity/"],
  },
  {
    id: "queries",
    title: "Inferred types and queries",
    intro: "Types of records and inputs, and what lists are asked with.",
    of: "keelson",
    files: ["entity/infer", "client/", "gate/condition/"],
  },
  {
    id: "rules",
    title: "Rules and validation",
    intro: "Who may do what, and which input is accepted.",
    of: "keelson",
    files: ["plugins/rules/", "plugins/validation/", "entity/rule-ref.ts"],
  },
  {
    id: "actions",
    title: "Actions",
    intro: "Prebuilt actions and those of your own.",
    of: "keelson",
    files: ["plugins/actions/", "entity/action.ts"],
  },
  {
    id: "workflows",
    title: "Workflows",
    intro: "Steps with compensations, and the engines that run them.",
    of: "keelson",
    files: ["plugins/workflows/"],
  },
  {
    id: "field-security",
    title: "Passwords and encryption",
    intro: "Hashing, encrypted fields and their keys.",
    of: "keelson",
    files: ["plugins/field-security/"],
  },
  {
    id: "authentication",
    title: "Callers and tokens",
    intro: "Who calls, and JSON Web Tokens.",
    of: "keelson",
    files: ["plugins/jwt-auth/", "kernel/request/scope.ts"],
  },
  {
    id: "remote-joins",
    title: "Remote joins",
    intro: "Records of other services in an `include`.",
    of: "keelson",
    files: ["plugins/remote-joins/", "gate/ports/remote-service.ts"],
  },
  {
    id: "databases",
    title: "Databases",
    intro: "Drivers, and the port that they implement.",
    of: "keelson",
    files: ["drivers/", "gate/statement/"],
  },
  {
    id: "servers",
    title: "Servers and frameworks",
    intro:
      "Adapters for Node's own server, Express, Hono and Next.js. Each is also exported by the subpath of its host.",
    of: "keelson",
    files: ["adapters/"],
  },
  {
    id: "openapi",
    title: "OpenAPI",
    intro: "The document, and how routes describe themselves.",
    of: "keelson",
    files: ["plugins/openapi/", "gate/operation/route-description.ts"],
  },
  {
    id: "plugins",
    title: "Plugins, hooks and routes",
    intro: "What a plugin is made of, and what it is given.",
    of: "keelson",
    files: ["plugins/", "gate/", "kernel/plugin/", "kernel/hooks/", "kernel/routes/", "kernel/create-kernel.ts"],
  },
  {
    id: "services",
    title: "Services",
    intro: "The container and its scopes.",
    of: "keelson",
    files: ["kernel/container/"],
  },
  {
    id: "errors",
    title: "Errors",
    intro: "Classes, builders and the answer an error becomes. What each code means is in [Error codes](../errors.md).",
    of: "keelson",
    files: ["kernel/errors/", "entity/keelson-error.ts"],
  },
  {
    id: "logging-and-names",
    title: "Logging and names",
    intro: "The logger, and the functions that make names of names.",
    of: "keelson",
    files: ["kernel/log/", "kernel/text/", "kernel/async/"],
  },
  {
    id: "client",
    title: "keelson/client",
    intro: "The typed client for browsers and other servers.",
    of: "keelson/client",
    files: [""],
  },
  {
    id: "node",
    title: "keelson/node",
    intro: "What only this subpath has; `serve` and `gracefully` are on [Servers and frameworks](servers.md).",
    of: "keelson/node",
    files: [""],
  },
  {
    id: "prisma",
    title: "keelson/prisma",
    intro: "Migrations from code; the drivers are on [Databases](databases.md).",
    of: "keelson/prisma",
    files: [""],
  },
  {
    id: "testing",
    title: "keelson/testing",
    intro: "Tools for tests of apps and plugins.",
    of: "keelson/testing",
    files: [""],
  },
  {
    id: "kernel-language",
    title: "keelson/kernel: definitions",
    intro: "What plugins and drivers ask entities, fields and actions.",
    of: "keelson/kernel",
    files: ["entity/"],
  },
  {
    id: "kernel-work",
    title: "keelson/kernel: requests and operations",
    intro: "Requests, operations, records, hooks and what else plugins work with.",
    of: "keelson/kernel",
    files: ["kernel/", "gate/"],
  },
  {
    id: "kernel-data",
    title: "keelson/kernel: conditions and drivers",
    intro: "The `where` language, cursors and what drivers work with.",
    of: "keelson/kernel",
    files: ["gate/condition/", "gate/statement/", "gate/ports/"],
  },
];

/** A page of the reference and the names it documents. */
export interface ReferencePage extends Omit<PageKind, "files"> {
  readonly names: readonly ExportedName[];
}

/** Names by entry point, sorted. */
export function namesByEntryPoint(): Map<string, readonly ExportedName[]> {
  return new Map(Object.entries(entryPoints).map(([id, file]) => [id, exportedNames(join(root, file))]));
}

/**
 * The pages in the order of the navigation. Every name of every entry point is on exactly one.
 * @throws when a name has no page, which a line above makes good
 */
export function referencePages(): ReferencePage[] {
  const pages = new Map(kinds.map((kind) => [kind.id, { ...kind, names: [] as ExportedName[] }]));
  const placed = new Set<string>();
  for (const [entryPoint, names] of namesByEntryPoint())
    for (const exported of names) {
      if (placed.has(exported.name)) continue;
      placed.add(exported.name);
      pages.get(pageOf(entryPoint, exported.file))?.names.push(exported);
    }
  return [...pages.values()].filter(({ names }) => names.length > 0);
}

function pageOf(entryPoint: string, file: string): string {
  const path = relative(join(root, "src"), file).split(sep).join("/");
  let best: { readonly id: string; readonly length: number } | undefined;
  for (const { id, of, files } of kinds)
    for (const start of of === entryPoint ? files : [])
      if (path.startsWith(start) && start.length >= (best?.length ?? 0)) best = { id, length: start.length };
  if (best === undefined) throw new Error(`No page of the reference takes ${path} of ${entryPoint}`);
  return best.id;
}
