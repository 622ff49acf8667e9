/**
 * Runs what optional packages are needed for with the lowest and the highest version that `peerDependencies` allow: packs this
 * package, installs it with them from the registry, and uses SQLite, PostgreSQL, Express, Hono, better-auth and OpenTelemetry.
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
const EXPECTED = { embedded: true, postgres: true, express: 200, hono: 200, "better-auth": 200 };

const place = mkdtempSync(join(tmpdir(), "keelson-peers-"));
const { peerDependencies } = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8"));

/** The lowest version of a range: `4.18.0` of `^4.18 || ^5`. */
function lowest(range: string): string {
  const version = (range.split("||")[0] as string).trim().replace(/^\^/, "");
  return version.includes("-") ? version : [...version.split("."), "0", "0"].slice(0, 3).join(".");
}

async function tryBound(bound: string, tarball: string): Promise<void> {
  const folder = join(place, bound);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "name": "trial", "private": true, "type": "module" }');
  const wanted = TRIED.map((name) => {
    const range = peerDependencies[name] as string;
    return `${name}@${bound === "lowest" ? lowest(range) : range}`;
  });
  npm(folder, "install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", tarball, ...wanted);
  await build({
    ...{ config: false, entry: [join(repository, "test/runtimes/fixture/peers.ts")], outDir: folder, format: ["esm"] },
    ...{ target: "node20", silent: true, splitting: false },
    ...{ external: [/^keelson/], outExtension: () => ({ js: ".mjs" }) },
  });
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
  const versions = TRIED.map((name) => {
    const manifest = readFileSync(join(folder, "node_modules", name, "package.json"), "utf8");
    return `${name} ${JSON.parse(manifest).version}`;
  });
  console.log(`${bound}: ${versions.join(", ")}`);
}

try {
  const { tarball } = pack(packageRoot, place);
  for (const bound of ["lowest", "highest"]) await tryBound(bound, tarball);
} catch (error) {
  console.error(`try-peers: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}
