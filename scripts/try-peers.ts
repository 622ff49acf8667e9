/**
 * Runs what optional packages are needed for with the lowest and the highest version that `peerDependencies` allow: packs this
 * package, installs it with them from the registry, and uses SQLite, PostgreSQL, Express, Hono, better-auth and OpenTelemetry.
 * Then it signs in with a passkey, with the newest better-auth that better-auth's package for passkeys fits.
 * `npm run build` comes first. `tsx scripts/try-peers.ts`
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "tsup";
import { freshPostgres } from "../test/support/databases.ts";
import { npm, pack, packageRoot, repository } from "./packed-package.ts";

const TRIED = [
  ...["@prisma/adapter-libsql", "@prisma/adapter-pg", "@prisma/driver-adapter-utils", "@prisma/get-dmmf"],
  ...["@prisma/schema-engine-wasm", "pg", "express", "hono", "better-auth", "@opentelemetry/api"],
];
const SQLITE = TRIED.filter((name) => name.startsWith("@prisma/") && name !== "@prisma/adapter-pg");
const PASSKEY = "@better-auth/passkey";
const EXPECTED = { embedded: true, postgres: true, express: 200, hono: 200, "better-auth": 200 };

const place = mkdtempSync(join(tmpdir(), "keelson-peers-"));
const { peerDependencies } = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8"));

/** The lowest version of a range: `4.18.0` of `^4.18 || ^5`. */
function lowest(range: string): string {
  const version = (range.split("||")[0] as string).trim().replace(/^\^/, "");
  return version.includes("-") ? version : [...version.split("."), "0", "0"].slice(0, 3).join(".");
}

/** An empty folder with a program and what it needs. */
async function prepare(name: string, program: string, packages: readonly string[]): Promise<string> {
  const folder = join(place, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "name": "trial", "private": true, "type": "module" }');
  npm(folder, "install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", ...packages);
  const entry = [join(repository, `test/runtimes/fixture/${program}.ts`)];
  await build({
    ...{ config: false, entry, outDir: folder, format: ["esm"] },
    ...{ target: "node20", silent: true, splitting: false },
    ...{ external: [/^keelson/, PASSKEY], outExtension: () => ({ js: ".mjs" }) },
  });
  return folder;
}

const versionsIn = (folder: string, names: readonly string[]): string =>
  names
    .map((name) => {
      const manifest = readFileSync(join(folder, "node_modules", name, "package.json"), "utf8");
      return `${name} ${JSON.parse(manifest).version}`;
    })
    .join(", ");

async function tryBound(bound: string, tarball: string): Promise<void> {
  const wanted = TRIED.map((name) => {
    const range = peerDependencies[name] as string;
    return `${name}@${bound === "lowest" ? lowest(range) : range}`;
  });
  const folder = await prepare(bound, "peers", [tarball, ...wanted]);
  const { url, drop } = await freshPostgres();
  try {
    const env = { ...process.env, DATABASE_URL: url, FILE: join(folder, "trial.db") };
    const printed = execFileSync(process.execPath, ["peers.mjs"], { cwd: folder, env, encoding: "utf8" });
    const found = Object.fromEntries(
      printed
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as [string, { password: boolean } | number])
        .map(([name, outcome]) => [name, typeof outcome === "number" ? outcome : outcome.password]),
    );
    if (JSON.stringify(found) !== JSON.stringify(EXPECTED)) throw new Error(`${bound}: ${JSON.stringify(found)}`);
  } finally {
    await drop();
  }
  console.log(`${bound}: ${versionsIn(folder, TRIED)}`);
}

async function tryPasskeys(tarball: string): Promise<void> {
  const { version, peerDependencies: peers } = JSON.parse(
    npm(place, "view", PASSKEY, "version", "peerDependencies", "--json"),
  ) as { version: string; peerDependencies: Readonly<Record<string, string>> };
  // Packages of better-auth are released together, and each names exact versions of others.
  const fitting = Object.entries({ ...peers, [PASSKEY]: version }).map(([name, range]) =>
    name.includes("better-auth") && range.startsWith("^") ? `${name}@${version}` : `${name}@${range}`,
  );
  const sqlite = SQLITE.map((name) => `${name}@${peerDependencies[name]}`);
  const folder = await prepare("passkeys", "passkeys", [tarball, ...sqlite, ...fitting]);
  const env = { ...process.env, FILE: join(folder, "trial.db") };
  const printed = execFileSync(process.execPath, ["passkeys.mjs"], { cwd: folder, env, encoding: "utf8" });
  if (printed !== "[200,200,200,200,401,200,200,200,404]") throw new Error(`passkeys: ${printed}`);
  console.log(`passkeys: ${versionsIn(folder, ["better-auth", PASSKEY])}`);
}

try {
  const { tarball } = pack(packageRoot, place);
  for (const bound of ["lowest", "highest"]) await tryBound(bound, tarball);
  await tryPasskeys(tarball);
} catch (error) {
  console.error(`try-peers: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}
