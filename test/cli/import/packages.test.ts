import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileProblems } from "../../support/compile-problems.ts";
import { describePostgres } from "../../support/describe-postgres.ts";
import { SQL_DATABASES, type SqlDatabase } from "../../support/sql-databases.ts";
import { entitiesIn, expectSameRows, keelson, makeFolder } from "./imported.ts";

/** Tables that other packages create, in a separate database. */
const PACKAGES: readonly (readonly [name: string, schema: string, make: (database: SqlDatabase) => Promise<void>])[] = [
  [
    "better-auth",
    "public",
    async ({ url }) => {
      const pool = new pg.Pool({ connectionString: url });
      const options = { database: pool, emailAndPassword: { enabled: true }, secret: "a secret of this test" } as const;
      const { runMigrations } = await getMigrations(options);
      await runMigrations();
      const auth = betterAuth(options);
      await auth.api.signUpEmail({ body: { name: "Ann", email: "ann@shop.example", password: "correct horse" } });
      await pool.end();
    },
  ],
  [
    "DBOS",
    "dbos",
    async ({ url }) => {
      DBOS.setConfig({ name: "import", systemDatabaseUrl: url, runAdminServer: false, logLevel: "error" });
      const greet = DBOS.registerWorkflow(async (name: string) => `hello ${name}`, { name: "greet" });
      await DBOS.launch();
      await greet("Ann");
      await DBOS.shutdown();
    },
  ],
];

/** The output for all of them, compiled together because most of the compile time is shared. */
const folders: string[] = [];
const written: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

describe.each(PACKAGES)("keelson import of the tables of %s", (_name, schema, make) => {
  const open = SQL_DATABASES.find(([name]) => name === "PostgreSQL")?.[1] as () => Promise<SqlDatabase>;
  let database: SqlDatabase;
  let folder: string;

  beforeAll(async () => {
    database = await open();
    folder = await makeFolder();
    folders.push(folder);
    await make(database);
  });
  afterAll(() => database?.drop());

  it("writes entities that start on untouched tables and list each row as SQL does", async () => {
    const before = await describePostgres(database);
    const out = join(folder, "entities");
    const { code, said, error } = await keelson("import", database.url, `--out=${out}`, `--schemas=${schema}`);
    expect([code, error]).toEqual([0, ""]);
    expect(said.replaceAll(out, "<out>")).toMatchSnapshot();
    written.push(...(await readdir(out)).map((file) => join(out, file)));
    await expectSameRows(await entitiesIn(out), async () => database.driver, database, '"');
    expect(await describePostgres(database)).toBe(before);
  });
});

it("keelson import writes entities that compile, of the tables of every package", () => {
  expect(new Set(written.map((file) => dirname(file))).size).toBe(PACKAGES.length);
  expect(compileProblems(written)).toEqual([]);
});
