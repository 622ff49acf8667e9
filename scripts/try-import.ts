/**
 * Tries `keelson import` on databases that other packages make: installs each from the registry into a folder of its own,
 * lets it make its tables in PostgreSQL, imports them, type-checks what was written, starts an app on the untouched tables, and
 * compares every table that it lists with SQL. Then a made database of 200 tables. Prints counts and times.
 * `tsx scripts/try-import.ts [name...]`; TRY_IMPORT_FOLDER keeps the installed packages for the next run.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import pg from "pg";
import type { AnyEntity, EntityLike } from "../src/entity/index.ts";
import { keelson, noopLogger, postgres, resolveEntity } from "../src/index.ts";
import { routeSegment } from "../src/kernel/index.ts";
import { shownRow, tableIn, withNulls } from "../test/cli/import/imported.ts";
import { freshPostgres } from "../test/support/databases.ts";
import { describePostgres } from "../test/support/describe-postgres.ts";

interface Trial {
  readonly packages: readonly string[];
  readonly schemas?: readonly string[];
  /** Files of the folder, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** What makes the tables; it is told DATABASE_URL. */
  readonly command: readonly string[];
}

const TRIALS: Readonly<Record<string, Trial>> = {
  "better-auth": {
    packages: ["better-auth", "pg"],
    files: {
      "make.mjs": `import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import pg from "pg";
const options = { database: new pg.Pool({ connectionString: process.env.DATABASE_URL }), emailAndPassword: { enabled: true }, secret: "a secret of this trial" };
await (await getMigrations(options)).runMigrations();
await betterAuth(options).api.signUpEmail({ body: { name: "Ann", email: "ann@shop.example", password: "correct horse" } });
process.exit(0);`,
    },
    command: ["node", "make.mjs"],
  },
  dbos: {
    packages: ["@dbos-inc/dbos-sdk"],
    schemas: ["dbos"],
    files: {
      "make.mjs": `import { DBOS } from "@dbos-inc/dbos-sdk";
DBOS.setConfig({ name: "trial", systemDatabaseUrl: process.env.DATABASE_URL, runAdminServer: false, logLevel: "error" });
const greet = DBOS.registerWorkflow(async (name) => "hello " + name, { name: "greet" });
await DBOS.launch();
await greet("Ann");
await DBOS.shutdown();
process.exit(0);`,
    },
    command: ["node", "make.mjs"],
  },
  payload: {
    packages: ["payload", "@payloadcms/db-postgres"],
    files: {
      "make.mjs": `import { postgresAdapter } from "@payloadcms/db-postgres";
import { buildConfig, getPayload } from "payload";
const config = buildConfig({
  secret: "a secret of this trial",
  db: postgresAdapter({ pool: { connectionString: process.env.DATABASE_URL } }),
  collections: [
    { slug: "users", auth: true, fields: [{ name: "name", type: "text" }] },
    { slug: "posts", versions: { drafts: true }, fields: [
      { name: "title", type: "text", required: true },
      { name: "kind", type: "select", hasMany: true, options: ["news", "story"] },
      { name: "author", type: "relationship", relationTo: "users" },
      { name: "links", type: "array", fields: [{ name: "url", type: "text" }] },
      { name: "when", type: "date" }, { name: "amount", type: "number" }, { name: "body", type: "json" },
    ] },
  ],
});
const payload = await getPayload({ config });
const ann = await payload.create({ collection: "users", data: { email: "ann@shop.example", password: "correct horse", name: "Ann" } });
await payload.create({ collection: "posts", data: { title: "Tea", kind: ["news"], author: ann.id, links: [{ url: "https://a.example" }], when: new Date().toISOString(), amount: 1.5, body: { a: 1 } } });
process.exit(0);`,
    },
    command: ["node", "make.mjs"],
  },
  directus: {
    packages: ["directus@11.1.0"], // the last version for Node 20; a part of it is compiled, which takes minutes
    files: {},
    command: ["npx", "directus", "bootstrap"],
  },
  medusa: {
    packages: ["@medusajs/medusa@2", "@medusajs/framework@2", "@medusajs/cli@2"],
    files: {
      "medusa-config.js": `const { defineConfig } = require("@medusajs/framework/utils");
module.exports = defineConfig({
  projectConfig: { databaseUrl: process.env.DATABASE_URL, http: { storeCors: "*", adminCors: "*", authCors: "*", jwtSecret: "s", cookieSecret: "s" } },
  admin: { disable: true },
});`,
    },
    command: ["npx", "medusa", "db:migrate", "--skip-scripts"],
  },
};

/** Settings of Directus; other packages do not look at them. */
const SETTINGS = {
  ...{ DB_CLIENT: "pg", SECRET: "a secret of this trial", TELEMETRY: "false", LOG_LEVEL: "error" },
  ...{ ADMIN_EMAIL: "ann@example.com", ADMIN_PASSWORD: "correct-horse" },
};

const root = fileURLToPath(new URL("..", import.meta.url));
const kept = process.env.TRY_IMPORT_FOLDER;
const place = kept ?? mkdtempSync(join(tmpdir(), "keelson-import-"));
// In the repository, where the package's name means its source.
const written = join(root, ".cache", `try-import-${process.pid}`);

const seconds = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`;

function install(name: string, { packages, files, command }: Trial, url: string): void {
  const folder = join(place, name);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "node_modules"))) {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: `trial-${name}`, private: true }));
    const options = ["--no-audit", "--no-fund", "--legacy-peer-deps", "--prefer-offline"];
    execFileSync("npm", ["install", ...options, ...packages], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  }
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const env = { ...process.env, ...SETTINGS, DATABASE_URL: url, DB_CONNECTION_STRING: url };
  const [program, ...args] = command as [string, ...string[]];
  execFileSync(program, args, { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"], timeout: 600_000 });
}

/** Imports a database, in a process of its own as a person does. */
function importInto(
  out: string,
  url: string,
  schemas: readonly string[],
): Record<string, { found: number; said: number }> {
  const args = ["tsx", "src/cli/main.ts", "import", url, `--out=${out}`, `--schemas=${schemas.join()}`, "--json"];
  const { counts } = JSON.parse(execFileSync("npx", args, { cwd: root, encoding: "utf8" }));
  return counts;
}

/** The first type error of the written files; undefined when there is none. */
function typeError(out: string): string | undefined {
  const config = join(out, "tsconfig.json");
  const files = readdirSync(out).filter((file) => file.endsWith(".ts"));
  writeFileSync(
    config,
    JSON.stringify({ extends: "../../../tsconfig.json", compilerOptions: { noEmit: true }, include: [], files }),
  );
  try {
    execFileSync("npx", ["tsc", "-p", config], { cwd: root, encoding: "utf8" });
    return undefined;
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout).split("\n")[0];
  }
}

interface Opened {
  readonly entities: readonly AnyEntity[];
  ask(path: string): Promise<Response>;
  close(): Promise<void>;
}

async function startOn(out: string, url: string): Promise<Opened> {
  const { entities } = (await import(pathToFileURL(join(out, "index.ts")).href)) as { entities: readonly EntityLike[] };
  const readable = entities.map((one) => ({
    ...(resolveEntity(one as never) as AnyEntity),
    rules: { read: ["everyone"] },
  }));
  const api = keelson({ entities: readable as never, driver: postgres(url, { push: "off" }), logger: noopLogger });
  await api.ready;
  return {
    entities: readable,
    ask: (path) => api.fetch(new Request(`http://trial.invalid/api/${path}`)),
    close: () => api.close(),
  };
}

/** Compares each table with SQL. @returns the tables that differ, and how many rows were compared */
async function compareRows(app: Opened, pool: pg.Pool): Promise<{ differing: string[]; rows: number }> {
  const differing: string[] = [];
  let rows = 0;
  for (const entity of app.entities) {
    const response = await app.ask(`${routeSegment(entity)}?_limit=100`);
    const body: unknown = await response.json();
    const count = await pool.query(`select count(*)::int as n from ${tableIn(entity, '"')}`);
    const stored = await pool.query(`select * from ${tableIn(entity, '"')}`);
    const expected = stored.rows.map((row) => JSON.stringify(shownRow(entity, row)));
    const shown = Array.isArray(body) ? body.map((record) => JSON.stringify(withNulls(entity, record))) : [];
    const isSame =
      shown.length === Math.min(100, count.rows[0].n) && shown.every((record) => expected.includes(record));
    if (response.status !== 200 || !isSame) differing.push(`${entity.name} (${response.status})`);
    rows += shown.length;
  }
  return { differing, rows };
}

/** The tables of the database that are neither an entity nor the pairs of a relation, and the number of tables of pairs. */
async function findUnlisted(app: Opened, pool: pg.Pool): Promise<{ unlisted: string[]; pairs: number }> {
  const { rows } = await pool.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
  );
  const relations = app.entities.flatMap((entity) => Object.values(entity.relations));
  const pairs = new Set(relations.flatMap(({ through }) => through?.table ?? []));
  const listed = new Set(app.entities.map(({ table, name }) => table?.name ?? name));
  return {
    unlisted: rows.flatMap(({ name }) => (listed.has(name) || pairs.has(name) ? [] : [name])),
    pairs: pairs.size,
  };
}

async function tryPackage(name: string, trial: Trial): Promise<boolean> {
  const { url, drop } = await freshPostgres();
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const rows = async (sql: string) => (await pool.query(sql)).rows;
  try {
    install(name, trial, url);
    const before = await describePostgres({ rows });
    const out = join(written, name);
    const begin = performance.now();
    const counts = importInto(out, url, trial.schemas ?? ["public"]);
    const imported = seconds(begin);
    const app = await startOn(out, url);
    const compared = await compareRows(app, pool);
    const { unlisted, pairs } = await findUnlisted(app, pool);
    await app.close();
    const problem = typeError(out);
    const isUntouched = (await describePostgres({ rows })) === before;
    const said = Object.entries(counts).map(([what, { found, said: of }]) => `${what} ${of}/${found}`);
    console.log(
      [
        `${name.padEnd(12)} ${said.join(", ")}; import ${imported}`,
        `  ${app.entities.length} entities and ${pairs} tables of pairs listed${unlisted.map((name) => `, NOT LISTED: ${name}`).join("")}, ${compared.rows} rows compared; ${compared.differing.length === 0 ? "all as SQL says" : `DIFFERENT: ${compared.differing.join(", ")}`}`,
        `  types: ${problem ?? "strict, no error"}; tables: ${isUntouched ? "untouched" : "CHANGED"}`,
      ].join("\n"),
    );
    return compared.differing.length === 0 && unlisted.length === 0 && problem === undefined && isUntouched;
  } catch (error) {
    console.log(`${name.padEnd(12)} FAILED: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  } finally {
    await pool.end();
    await drop();
  }
}

/** A database of 200 tables that refer to each other: the time from the import to the first answered request. */
async function tryMany(): Promise<boolean> {
  const { url, drop } = await freshPostgres();
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    for (let table = 0; table < 200; table++) {
      const reference = table === 0 ? "" : `, parent_id bigint references part_${Math.floor(table / 3)}`;
      await client.query(
        `create table part_${table} (id bigserial primary key, name varchar(80) not null, price numeric(12,2) not null default 0, note text, made_at timestamptz not null default now(), flags jsonb${reference}, unique (name, price))`,
      );
      await client.query(`create index on part_${table} (made_at)`);
    }
    await client.query("insert into part_7 (name) values ('first')");
    const out = join(written, "many");
    const begin = performance.now();
    importInto(out, url, ["public"]);
    const app = await startOn(out, url);
    const last = app.entities.find(({ table }) => table?.name === "part_7") as AnyEntity;
    const response = await app.ask(routeSegment(last));
    const body = (await response.json()) as unknown[];
    console.log(
      `200 tables   ${seconds(begin)} from the import to the first response (${response.status}, ${body.length} row)`,
    );
    await app.close();
    return response.status === 200 && body.length === 1;
  } finally {
    await client.end();
    await drop();
  }
}

const asked = process.argv.slice(2);
let isFine = true;
try {
  for (const [name, trial] of Object.entries(TRIALS))
    if (asked.length === 0 || asked.includes(name)) isFine = (await tryPackage(name, trial)) && isFine;
  if (asked.length === 0 || asked.includes("many")) isFine = (await tryMany()) && isFine;
} finally {
  rmSync(written, { recursive: true, force: true });
  if (kept === undefined) rmSync(place, { recursive: true, force: true });
}
process.exit(isFine ? 0 : 1);
