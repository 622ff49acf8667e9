import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { runCli } from "../../src/cli/run-cli.ts";
import { repositoryRoot } from "../support/source-files.ts";
import { packageOfThisFile } from "./built-package.ts";

/** A command's output and exit code. */
export interface Said {
  readonly code: number | "serving";
  readonly out: string;
  readonly err: string;
}

/** A project in a new folder that uses the published form of the package. */
export interface TestProject {
  readonly folder: string;
  /** Runs a command in this process, in the folder, without a terminal. */
  run(...words: string[]): Promise<Said>;
  write(path: string, text: string): Promise<void>;
  read(path: string): Promise<string>;
  /** Names of the folder's files, except those that every project has. */
  list(): Promise<string[]>;
  /** Makes packages of this repository available to it. */
  link(...names: string[]): Promise<void>;
  remove(): Promise<void>;
}

/** Runs a command line as `keelson` does, in the working directory. */
export async function runWords(words: readonly string[]): Promise<Said> {
  const said = { out: "", err: "" };
  const stream = (name: "out" | "err"): Writable =>
    new Writable({
      write(chunk, _encoding, done) {
        said[name] += chunk;
        done();
      },
    });
  const terminal = {
    stdin: Readable.from([]),
    stdout: stream("out"),
    stderr: stream("err"),
    interactive: false,
    colors: false,
  };
  const code = await runCli(words, terminal);
  return { code, ...said };
}

/** @param files texts by path @param linked whether Keelson is installed in it */
export async function openProject(files: Readonly<Record<string, string>> = {}, linked = true): Promise<TestProject> {
  const folder = await mkdtemp(join(tmpdir(), "keelson-cli-"));
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  const link = async (name: string, target: string): Promise<void> => {
    await mkdir(dirname(join(folder, "node_modules", name)), { recursive: true });
    await symlink(target, join(folder, "node_modules", name));
  };
  for (const [path, text] of Object.entries(files)) await write(path, text);
  if (linked) await link("keelson", await packageOfThisFile());
  return {
    folder,
    async run(...words) {
      const before = process.cwd();
      process.chdir(folder);
      try {
        return await runWords(words);
      } finally {
        process.chdir(before);
      }
    },
    write,
    read: (path) => readFile(join(folder, path), "utf8"),
    list: async () => (await readdir(folder)).filter((name) => name !== "node_modules").sort(),
    async link(...names) {
      for (const name of names) await link(name, join(repositoryRoot, "node_modules", name));
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A configuration of one entity, `note`, whose members are given as source. */
export function noteConfig(fields: string, rest = '.rules({ read: ["everyone"] })', options = ""): string {
  return `
    import { defineConfig, entity, string, text, int, bool, belongsTo, embedded, postgres } from "keelson";
    export const note = entity("note", { ${fields} })${rest};
    export default defineConfig({ entities: [note], ${options} });
  `;
}
