import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { ConfigurationError } from "../../entity/index.ts";
import { generateEncryptionKey } from "../../index.ts";
import type { Terminal } from "../shell/output.ts";
import { packageManifest, packageRoot } from "../shell/package-root.ts";

/** Packages of the embedded default: SQLite, and what makes its tables. */
const DATABASE = [
  "@prisma/adapter-libsql",
  "@prisma/driver-adapter-utils",
  "@prisma/get-dmmf",
  "@prisma/schema-engine-wasm",
];
const DEVELOPMENT = ["@types/node", "typescript", "vitest"];

/** The package.json of a new project, with the exact versions that this package is tested with. */
function projectManifest(name: string, host: HostName): string {
  const { version, engines, devDependencies } = packageManifest();
  const { scripts, dependencies, devDependencies: types } = HOSTS[host];
  const pinned = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries([...names].sort().map((one) => [one, devDependencies[one] as string]));
  const manifest = {
    name,
    private: true,
    type: "module",
    engines,
    scripts: { ...scripts, test: "vitest run", check: "tsc --noEmit && keelson lint" },
    dependencies: { ...pinned([...DATABASE, ...dependencies]), keelson: version },
    devDependencies: pinned([...DEVELOPMENT, ...types]),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Stands for the project's name in templates. */
const NAME = "__NAME__";

/**
 * Writes a new project: entities, configuration, tests, what the host needs, and secrets of its own.
 * @returns paths of the files, relative to the folder
 * @throws ConfigurationError when there is something in the folder
 */
export async function scaffold(folder: string, name: string, host: HostName): Promise<readonly string[]> {
  await refuseUnlessEmpty(folder);
  const files = new Map([
    ...(await filesOf("base")),
    ...(await filesOf(`hosts/${host}`)),
    ["package.json", projectManifest(name, host)],
    [".env", secrets()],
  ]);
  for (const [path, text] of files) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text.replaceAll(NAME, name), { mode: path === ".env" ? 0o600 : 0o644 });
  }
  return [...files.keys()].sort();
}

async function refuseUnlessEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new ConfigurationError(`${folder} is not a folder that a project can be written to (${error.code})`);
  });
  const strangers = entries.filter((name) => name !== ".git");
  if (strangers.length === 0) return;
  const named = strangers.slice(0, 3).join(", ");
  throw new ConfigurationError(
    `The folder is not empty (${named}${strangers.length > 3 ? ", …" : ""}). Name another one: keelson init <folder>`,
  );
}

/** Texts of a template by path. Files that npm treats specially have other names there. */
async function filesOf(template: string): Promise<[path: string, text: string][]> {
  const root = join(packageRoot(), "templates", template);
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ name, parentPath }): Promise<[string, string]> => {
        const path = join(parentPath, name === "gitignore" ? ".gitignore" : name).slice(root.length + 1);
        return [path, await readFile(join(parentPath, name), "utf8")];
      }),
  );
}

function secrets(): string {
  return [
    "# Secrets of this machine. Every machine has its own; they are not in git.",
    `JWT_SECRET=${randomBytes(48).toString("base64url")}`,
    `ENCRYPTION_KEY=${generateEncryptionKey()}`,
    "",
  ].join("\n");
}

/**
 * Asks which host serves the API; without a terminal, Keelson's own server. Undefined when the question was cancelled.
 */
export async function chooseHost({ interactive, stdin, stderr }: Terminal): Promise<HostName | undefined> {
  if (!interactive) return "node";
  const { isCancel, select } = await import("@clack/prompts");
  const options = HOST_NAMES.map((value) => ({ value, label: HOSTS[value].label }));
  const chosen = await select({
    message: "What serves the API?",
    options,
    input: stdin as Readable,
    output: stderr as Writable,
  });
  return isCancel(chosen) ? undefined : chosen;
}

/** What a project is served by. */
interface Host {
  /** As a person chooses it. */
  readonly label: string;
  readonly scripts: Readonly<Record<string, string>>;
  /** Packages besides those that every project needs; versions are those this package is tested with. */
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
}

export const HOST_NAMES = ["node", "express", "hono", "next"] as const;
type HostName = (typeof HOST_NAMES)[number];

const SERVER = { dev: "keelson dev src/server.ts", start: "keelson start src/server.ts" };

const HOSTS: Readonly<Record<HostName, Host>> = {
  node: {
    label: "None: Keelson's own server on node:http",
    scripts: { dev: "keelson dev", start: "keelson start" },
    dependencies: [],
    devDependencies: [],
  },
  express: { label: "Express", scripts: SERVER, dependencies: ["express"], devDependencies: ["@types/express"] },
  hono: { label: "Hono", scripts: SERVER, dependencies: ["hono", "@hono/node-server"], devDependencies: [] },
  next: {
    label: "Next.js",
    scripts: { dev: "next dev", build: "next build", start: "next start" },
    dependencies: ["next", "react", "react-dom"],
    devDependencies: ["@types/react"],
  },
};
