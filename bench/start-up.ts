// From the start of the process to the first good answer, on the built package: `npm run bench:start -- --rounds 5`.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { build } from "tsup";
import { LOADED_IN_ORDER } from "../scripts/loaded-in-order.ts";
import { peersAreInstalled, peersHint } from "./contenders.ts";
import { benchDatabaseUrl, openDatabase } from "./database.ts";
import { firstAnswer, type Start } from "./start-up/first-answer.ts";
import { median } from "./statistics.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
// Apart from what the other benchmarks compile, which they remove; that of a peer has to be where its packages are found.
const folder = here("../.cache/bench-start-up/");
const peersFolder = here("peers/node_modules/.cache/start-up/");
const database = "keelson_bench_start";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "5" }, only: { type: "string" } } });

/** Somebody who starts. */
interface Case {
  readonly name: string;
  readonly file: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether its tables and files are removed before each start. */
  readonly isNew?: boolean;
}

async function compile(outDir: string, entry: Record<string, string>): Promise<void> {
  const settings = { format: "esm", target: "node20", platform: "node", skipNodeModulesBundle: true } as const;
  const output = { outDir, clean: true, config: false, dts: false, silent: true } as const;
  const noExternal = [LOADED_IN_ORDER];
  await build({ entry, noExternal, ...settings, ...output, outExtension: () => ({ js: ".mjs" }) });
}

async function inPostgres(sql: string): Promise<void> {
  const url = new URL(benchDatabaseUrl());
  url.pathname = "/postgres";
  const client = new Client({ connectionString: url.href });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

const dist = join(folder, "package");
process.stdout.write("building the package\n");
execFileSync("npx", ["tsup", "--no-dts", "--out-dir", dist], { cwd: here(".."), stdio: "ignore" });
await compile(join(folder, "apps"), {
  keelson: here("start-up/keelson-app.ts"),
  node: here("start-up/node-app.ts"),
  "hono-prisma": here("start-up/hono-prisma-app.ts"),
  probe: here("probe.ts"),
});
if (peersAreInstalled) await compile(peersFolder, { remult: here("peers/remult/start-up.ts") });
else process.stdout.write(`${peersHint}\n`);
await (await openDatabase()).close();
await inPostgres(`DROP DATABASE IF EXISTS ${database}`);
await inPostgres(`CREATE DATABASE ${database}`);

const app = (name: string): string => join(folder, "apps", `${name}.mjs`);
const data = join(folder, "data");
const KEELSON = pathToFileURL(join(dist, "index.js")).href;

function keelson(name: string, count: number, change: Partial<Case> & { DATABASE?: string } = {}): Case {
  const { DATABASE = join(data, `${count}.db`), env, ...rest } = change;
  return { name, file: app("keelson"), env: { KEELSON, ENTITIES: String(count), DATABASE, ...env }, ...rest };
}

const postgresUrl = new URL(benchDatabaseUrl());
postgresUrl.pathname = `/${database}`;
const inOne = (count: number): { DATABASE: string } => ({ DATABASE: `${postgresUrl.href}?schema=of${count}` });
const production = { env: { NODE_ENV: "production" } };
const newFile = (count: number) => ({ DATABASE: join(data, `new-${count}.db`), isNew: true });

const REFERENCE = "Remult, JSON files";
const cases: readonly Case[] = [
  { name: "node:http, nothing loaded", file: app("node") },
  ...(peersAreInstalled
    ? [{ name: REFERENCE, file: join(peersFolder, "remult.mjs"), env: { DATABASE: join(data, "remult") } }]
    : []),
  { name: "Hono + Prisma, PostgreSQL", file: app("hono-prisma"), ...production },
  keelson("embedded, 1 entity", 1),
  keelson("embedded, 1, production", 1, production),
  keelson("embedded, 1, new file", 1, newFile(1)),
  ...[10, 100, 300].map((count) => keelson(`embedded, ${count}`, count)),
  keelson("embedded, 100, new file", 100, newFile(100)),
  ...[1, 100].map((count) => keelson(`postgres, ${count}`, count, inOne(count))),
].filter(({ name }) => values.only === undefined || name.includes(values.only) || name === REFERENCE);

const starts = cases.map((): Start[] => []);
const probe = pathToFileURL(join(folder, "apps/probe.mjs")).href;

async function start({ file, env = {}, isNew = false }: Case): Promise<Start> {
  if (isNew) for (const end of ["", "-wal", "-shm", "-schema"]) rmSync(`${env.DATABASE}${end}`, { force: true });
  return firstAnswer(file, probe, env);
}

try {
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  for (const one of cases) await start(one); // makes tables, and fills the cache of files
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [index, one] of cases.entries()) starts[index]?.push(await start(one));
} finally {
  await inPostgres(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
}

function range(numbers: readonly number[], digits: number): string {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return `${median(numbers).toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`;
}

const reference = starts[cases.findIndex(({ name }) => name === REFERENCE)];
const cells = (of: readonly Start[], figure: "ms" | "cpuMs"): string[] => [
  range(
    of.map((one) => one[figure]),
    0,
  ),
  reference === undefined
    ? "–"
    : range(
        of.map((one, round) => one[figure] / (reference[round] as Start)[figure]),
        2,
      ),
];
process.stdout.write(
  "| from the start to the first answer | ms | × Remult | CPU, ms | × Remult | MB |\n|---|---|---|---|---|---|\n",
);
for (const [index, { name }] of cases.entries()) {
  const of = starts[index] as Start[];
  const memory = median(of.map(({ rssMb }) => rssMb)).toFixed(0);
  process.stdout.write(`| ${[name, ...cells(of, "ms"), ...cells(of, "cpuMs"), memory].join(" | ")} |\n`);
}
