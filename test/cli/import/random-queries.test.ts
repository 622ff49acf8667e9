import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnyEntity } from "../../../src/entity/index.ts";
import { resolveEntity } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { compileProblems } from "../../support/compile-problems.ts";
import { whyNoMysql } from "../../support/mysql-server.ts";
import { amount } from "../../support/suite.ts";
import { type Catalogue, openCatalogue } from "./catalogue.ts";
import { entitiesIn, expectSameRows, keelson, makeFolder } from "./imported.ts";
import { RandomQueries } from "./random-queries.ts";
import { AWKWARD_SCHEMAS, type Database } from "./random-schemas.ts";
import { randomFrom, statementsOf } from "./random-statements.ts";

const QUERIES = amount(60, 1_000);
const SEED = Number(process.env.PROPERTY_SEED ?? Math.floor(Math.random() * 2 ** 31));
const DATABASES: readonly Database[] =
  (await whyNoMysql()) === undefined ? ["SQLite", "PostgreSQL", "MariaDB"] : ["SQLite", "PostgreSQL"];

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

describe.each(DATABASES)("awkward tables that were imported from %s", (name) => {
  const schemas = name === "PostgreSQL" ? AWKWARD_SCHEMAS.map((schema) => schema.name) : [];
  let database: Catalogue;
  let out: string;
  let before: string;

  beforeAll(async () => {
    database = await openCatalogue[name]();
    out = await makeFolder();
    folders.push(out);
    for (const schema of AWKWARD_SCHEMAS)
      await database.run(statementsOf(schema, name, randomFrom(schema.name.length)), schema.name);
    before = await database.dump();
  });
  afterAll(async () => {
    await database?.drop();
  });

  it("are reported as completely as the catalogue knows them, table by table", async () => {
    const { code, said, error } = await keelson(
      ...["import", database.url, `--out=${out}`, "--json", "--overwrite"],
      ...(schemas.length === 0 ? [] : [`--schemas=${schemas.join()}`]),
    );
    expect([code, error]).toEqual([0, ""]);
    const { counts } = JSON.parse(said) as { counts: Record<string, { found: number }> };
    const found = Object.fromEntries(Object.entries(counts).map(([what, count]) => [what, count.found]));
    expect(found).toEqual(await database.counts(schemas));
  });

  it("list each row as SQL does", async () => {
    await expectSameRows(await entitiesIn(out), (readable) => database.driverFor(readable), database, '"');
  });

  it(`return for ${QUERIES} random queries the rows and the order of SQL`, async () => {
    const readable = (await entitiesIn(out)).map((one) => ({
      ...(resolveEntity(one as never) as AnyEntity),
      rules: { read: ["everyone"] },
    }));
    const app = createTestApp({ entities: readable, driver: await database.driverFor(readable) } as never);
    try {
      await app.api.ready;
      const queries = new RandomQueries(name, readable, database, SEED);
      const ask = (path: string) => app.as({ id: "ann" }).request("GET", path);
      for (let turn = 0; turn < QUERIES; turn++) await queries.compareNext(ask);
    } finally {
      await app.close();
    }
  });

  it("are unchanged afterwards", async () => {
    expect((await database.dump()).split("\n")).toEqual(before.split("\n"));
  });
});

it("awkward tables become entities that compile, on every database", async () => {
  const files = await Promise.all(folders.map(async (out) => (await readdir(out)).map((file) => join(out, file))));
  expect(files.flat().length).toBeGreaterThan(20);
  expect(compileProblems(files.flat())).toEqual([]);
});
