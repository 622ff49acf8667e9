import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "tsup";
import { runNext } from "../../../scripts/run-next.ts";
import { whenListening } from "../../support/example-process.ts";
import { repositoryRoot } from "../../support/source-files.ts";

const fixture = join(repositoryRoot, "test/adapters/next/fixture");
const source = (path: string): string => join(repositoryRoot, "src", path);

/** A built Next project. */
export interface NextApp {
  /** Starts `next start` on a free port. */
  start(environment?: Readonly<Record<string, string>>): Promise<{ readonly port: number; close(): Promise<void> }>;
  /** Deletes it. */
  remove(): void;
}

/** Builds the fixture in a new folder, where packages resolve as in this repository. */
export async function buildNextApp(): Promise<NextApp> {
  const cache = join(repositoryRoot, ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "next-"));
  const remove = () => rmSync(folder, { recursive: true });
  cpSync(fixture, folder, { recursive: true, filter: (path) => !path.endsWith("contract.ts") });
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text);
  const config = { serverExternalPackages: ["contract"], typescript: { ignoreBuildErrors: true } };
  write("package.json", JSON.stringify({ name: "fixture", private: true, type: "module" }));
  write("next.config.mjs", `export default ${JSON.stringify(config)};`);
  // As in a user's project, where the app comes from a package that Next does not bundle. The repository's own type check
  // covers the routes, with types that the package does not have here.
  write("contract.ts", 'export * from "contract";');
  await build({
    config: false,
    entry: { index: join(fixture, "contract.ts") },
    outDir: join(folder, "node_modules/contract"),
    format: ["esm"],
    target: "node20",
    silent: true,
    noExternal: [/^keelson/],
    esbuildOptions(options) {
      options.alias = { "keelson/next": source("adapters/next/index.ts"), keelson: source("index.ts") };
    },
  });
  write(
    "node_modules/contract/package.json",
    JSON.stringify({ name: "contract", type: "module", exports: "./index.js" }),
  );
  const [code] = await once(runNext("build", folder, { stdio: ["ignore", "ignore", "inherit"] }), "exit");
  if (code !== 0) {
    remove();
    throw new Error("next build has failed; what it says is above");
  }
  return { start: (environment) => start(folder, environment), remove };
}

async function start(folder: string, environment: Readonly<Record<string, string>> = {}) {
  const child = runNext("start", folder, { env: { ...environment, PORT: "0" }, stdio: ["ignore", "pipe", "pipe"] });
  const { port, ended } = await whenListening(child);
  const close = async () => {
    child.kill();
    await ended;
  };
  return { port, close };
}
