import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { ConfigurationError } from "../../entity/index.ts";
import { generateEncryptionKey } from "../../index.ts";
import type { Terminal } from "../shell/output.ts";
import { packageManifest, packageRoot } from "../shell/package-root.ts";

/** The packages of the embedded default: SQLite, and those that create its tables. */
const DATABASE = [
  "@prisma/adapter-libsql",
  "@prisma/driver-adapter-utils",
  "@prisma/get-dmmf",
  "@prisma/schema-engine-wasm",
];
const DEVELOPMENT = ["@types/node", "typescript", "vitest"];

/** Makes the package.json of a new project, with the exact versions that this package is tested with. */
function projectManifest(name: string, host: HostName, logins: LoginsName): string {
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
    dependencies: { ...pinned([...DATABASE, ...dependencies, ...LOGINS[logins].dependencies]), keelson: version },
    devDependencies: pinned([...DEVELOPMENT, ...types]),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** The placeholder for the project's name in templates. */
const NAME = "__NAME__";

/**
 * Writes a new project: entities, configuration, tests, the host's files, and new secrets.
 * @returns the paths of the files, relative to the folder
 * @throws ConfigurationError when the folder is not empty
 */
export async function scaffold(
  folder: string,
  name: string,
  { host, logins }: { readonly host: HostName; readonly logins: LoginsName },
): Promise<readonly string[]> {
  await refuseUnlessEmpty(folder);
  const files = new Map([
    ...(await filesOf("base")),
    ...(await filesOf(`logins/${logins}`)),
    ...(await filesOf(`hosts/${host}`)),
    ["package.json", projectManifest(name, host, logins)],
    [".env", secrets(logins)],
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

/** Reads the files of a template, by path. Files that npm treats specially have other names in templates. */
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

function secrets(logins: LoginsName): string {
  const named = Object.entries(LOGINS[logins].secrets).map(([name, make]) => `${name}=${make()}`);
  return ["# Secrets of this machine. Every machine has its own; they are not in git.", ...named, ""].join("\n");
}

/**
 * Prompts for the host of the API; without a terminal, selects Keelson's own server. Undefined when the prompt was
 * cancelled.
 */
export function chooseHost(terminal: Terminal): Promise<HostName | undefined> {
  return choose(terminal, "What serves the API?", HOSTS, HOST_NAMES);
}

/** Prompts for the login method; without a terminal, selects tokens. Undefined when the prompt was cancelled. */
export function chooseLogins(terminal: Terminal): Promise<LoginsName | undefined> {
  return choose(terminal, "How do users log in?", LOGINS, LOGINS_NAMES);
}

async function choose<T extends string>(
  { interactive, stdin, stderr }: Terminal,
  message: string,
  labels: Readonly<Record<T, { readonly label: string }>>,
  names: readonly [T, ...T[]],
): Promise<T | undefined> {
  if (!interactive) return names[0];
  const { isCancel, select } = await import("@clack/prompts");
  const options = names.map((value) => ({ value: value as string, label: labels[value].label }));
  const chosen = await select({ message, options, input: stdin as Readable, output: stderr as Writable });
  return isCancel(chosen) ? undefined : (chosen as T);
}

/** A host that serves a project. */
interface Host {
  /** The label in the prompt. */
  readonly label: string;
  readonly scripts: Readonly<Record<string, string>>;
  /** Additional packages; their versions are those that this package is tested with. */
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

/** A login method. */
interface Logins {
  /** The label in the prompt. */
  readonly label: string;
  /** Additional packages. */
  readonly dependencies: readonly string[];
  /** The secrets in .env, by name. */
  readonly secrets: Readonly<Record<string, () => string>>;
}

export const LOGINS_NAMES = ["tokens", "better-auth"] as const;
type LoginsName = (typeof LOGINS_NAMES)[number];

const randomSecret = (): string => randomBytes(48).toString("base64url");

const LOGINS: Readonly<Record<LoginsName, Logins>> = {
  tokens: {
    label: "With a password and a token: a login action of your own",
    dependencies: [],
    secrets: { JWT_SECRET: randomSecret, ENCRYPTION_KEY: generateEncryptionKey },
  },
  "better-auth": {
    label: "With accounts of better-auth: sessions, mail, social providers, organizations",
    dependencies: ["better-auth"],
    secrets: { AUTH_SECRET: randomSecret },
  },
};
