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
  "keelson/audit": "src/plugins/audit/index.ts",
  "keelson/better-auth": "src/plugins/accounts/index.ts",
  "keelson/dbos": "src/plugins/workflows/dbos/index.ts",
  "keelson/idempotency": "src/plugins/idempotency/index.ts",
  "keelson/jwt": "src/plugins/jwt-auth/index.ts",
  "keelson/openapi": "src/plugins/openapi/index.ts",
  "keelson/react-query": "src/client/react-query/index.ts",
  "keelson/rate-limit": "src/plugins/rate-limit/index.ts",
  "keelson/studio": "src/plugins/studio/index.ts",
  "keelson/telemetry": "src/plugins/telemetry/index.ts",
  "keelson/plugin": "src/plugin.ts",
  "keelson/driver": "src/driver.ts",
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
    files: ["keelson.ts", "enhanced-driver.ts", "gate/client/", "gate/ports/", "kernel/http/", "kernel/request/"],
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
    title: "Callers",
    intro: "Who calls.",
    of: "keelson",
    files: ["kernel/request/scope.ts"],
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
    intro: "Adapters for Express, Hono and Next.js. Each is also exported by the subpath of its host.",
    of: "keelson",
    files: ["adapters/"],
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
    files: ["kernel/errors/", "entity/base/keelson-error.ts"],
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
    id: "express",
    title: "keelson/express",
    intro: "Types of the adapter for Express; the adapter is on [Servers and frameworks](servers.md).",
    of: "keelson/express",
    files: [""],
  },
  {
    id: "hono",
    title: "keelson/hono",
    intro: "Types of the adapter for Hono; the adapter is on [Servers and frameworks](servers.md).",
    of: "keelson/hono",
    files: [""],
  },
  {
    id: "next",
    title: "keelson/next",
    intro: "Types of the adapter for Next.js; the adapter is on [Servers and frameworks](servers.md).",
    of: "keelson/next",
    files: [""],
  },
  {
    id: "node",
    title: "keelson/node",
    intro: "A server on node:http, its graceful end, and a request listener.",
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
    id: "audit",
    title: "keelson/audit",
    intro: "The log of who changed which record.",
    of: "keelson/audit",
    files: [""],
  },
  {
    id: "better-auth",
    title: "keelson/better-auth",
    intro: "Accounts, logins and organizations with better-auth.",
    of: "keelson/better-auth",
    files: [""],
  },
  {
    id: "dbos",
    title: "keelson/dbos",
    intro: "Workflows that run on DBOS.",
    of: "keelson/dbos",
    files: [""],
  },
  {
    id: "idempotency",
    title: "keelson/idempotency",
    intro: "Requests that can be repeated safely.",
    of: "keelson/idempotency",
    files: [""],
  },
  {
    id: "jwt",
    title: "keelson/jwt",
    intro: "Callers recognised by JSON Web Tokens, and a signer for tests and log-ins.",
    of: "keelson/jwt",
    files: [""],
  },
  {
    id: "openapi",
    title: "keelson/openapi",
    intro: "The OpenAPI document of an app.",
    of: "keelson/openapi",
    files: [""],
  },
  {
    id: "react-query",
    title: "keelson/react-query",
    intro: "Options for TanStack Query from a typed client.",
    of: "keelson/react-query",
    files: [""],
  },
  {
    id: "rate-limit",
    title: "keelson/rate-limit",
    intro: "Limits on requests, and where they are counted.",
    of: "keelson/rate-limit",
    files: [""],
  },
  {
    id: "studio",
    title: "keelson/studio",
    intro: "The page to see and change an app's data.",
    of: "keelson/studio",
    files: [""],
  },
  {
    id: "telemetry",
    title: "keelson/telemetry",
    intro: "Spans and metrics of OpenTelemetry.",
    of: "keelson/telemetry",
    files: [""],
  },
  {
    id: "plugin",
    title: "keelson/plugin",
    intro: "For authors of plugins: hooks, routes, operations and statements.",
    of: "keelson/plugin",
    files: [""],
  },
  {
    id: "driver",
    title: "keelson/driver",
    intro: "For authors of drivers: the port, its statements and conditions.",
    of: "keelson/driver",
    files: [""],
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
