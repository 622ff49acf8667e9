import { PrismaPg } from "@prisma/adapter-pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AnyPrismaClient } from "../../../src/drivers/prisma/index.ts";
import { bulkDeleteAction, bulkUpdateAction, entity, int, postgres, prisma } from "../../../src/index.ts";
import { audit } from "../../../src/plugins/audit/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { askPostgres, freshPostgres } from "../../support/databases.ts";
import { generatedClient } from "../../support/generate-client.ts";

// Prisma's statements lock the records of a list in any order, so those of bulk actions take turns on PostgreSQL.

interface ExtensibleClient extends AnyPrismaClient {
  $extends(extension: object): AnyPrismaClient;
}

interface Call {
  readonly operation: string;
  readonly args: unknown;
  query(args: unknown): unknown;
}

const all = ["everyone"];
const note = entity("note", { n: int.default(0) })
  .rules({ create: all, read: all, update: all, delete: all })
  .actions({ bulkUpdate: bulkUpdateAction, bulkDelete: bulkDeleteAction });
const entities = [note];
const IDS = Array.from({ length: 60 }, (_, place) => `n${String(place).padStart(2, "0")}`);
/** Plugins, and the number of UPDATE statements for all records: audit() locks each of them first. */
const CASES = [
  ["alone", [], 1],
  ["with audit()", [audit({ read: all })], IDS.length + 1],
] as const;

describe.each(CASES)("bulk actions through a client of PostgreSQL, %s", (_name, plugins, updates) => {
  let database: Awaited<ReturnType<typeof freshPostgres>>;
  let app: ReturnType<typeof createTestApp<typeof entities>>;
  const calls: string[] = [];
  beforeAll(async () => {
    database = await freshPostgres();
    const name = new URL(database.url).pathname.slice(1);
    await askPostgres(database.url, `alter database "${name}" set deadlock_timeout = '50ms'`);
    const tables = createTestApp({ entities, driver: postgres(database.url), plugins });
    await tables.api.ready;
    const { entities: known } = tables.api.driver.model;
    await tables.close();
    const Client = await generatedClient(known, "postgresql");
    const client = new Client({ adapter: new PrismaPg({ connectionString: database.url }) }) as ExtensibleClient;
    const $allOperations = ({ operation, args, query }: Call): unknown => {
      calls.push(operation);
      return query(args);
    };
    const driver = prisma(client.$extends({ query: { $allModels: { $allOperations } } }));
    app = createTestApp({ entities, driver, plugins });
    await app.api.ready;
  });
  beforeEach(async () => {
    await app.api.driver.deleteMany("note", { id: { null: false } });
    for (const id of IDS)
      await app.api.driver.create("note", { id, n: 0, createdAt: new Date(), updatedAt: new Date() });
    calls.length = 0;
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  const send = (method: string, path: string, body: unknown) => app.as(null).request(method, `/api/notes${path}`, body);
  const atOnce = (make: (turn: number) => ReturnType<typeof send>) =>
    Promise.all(Array.from({ length: 12 }, (_, turn) => make(turn)));

  it("change all records with one statement, once they are locked", async () => {
    expect(await send("PUT", "/bulk", { ids: IDS, data: { n: 1 } })).toMatchObject({
      status: 200,
      body: { count: 60 },
    });
    expect(calls.filter((operation) => operation === "updateMany")).toHaveLength(updates);
    expect(await app.api.driver.count("note", { n: 1 })).toBe(60);
  });

  it("do not deadlock when they change the same records in any order", async () => {
    const answers = await atOnce((turn) =>
      turn % 3 === 0
        ? send("POST", "/bulk-delete", { ids: IDS.slice(turn, turn + 20).reverse() })
        : send("PUT", "/bulk", { ids: turn % 3 === 1 ? IDS : [...IDS].reverse(), data: { n: turn } }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    const left = await app.api.driver.findMany("note", { select: ["n"] });
    expect([left.length, new Set(left.map(({ n }) => n)).size]).toEqual([60 - 29, 1]);
  });

  it("wait for a single change of one of their records", async () => {
    const changes = atOnce((turn) => send("PATCH", `/${IDS[turn * 5]}`, { n: 100 + turn }));
    const bulk = atOnce((turn) => send("PUT", "/bulk", { ids: IDS, data: { n: turn } }));
    expect([...(await changes), ...(await bulk)].map(({ status }) => status)).toEqual(Array(24).fill(200));
  });
});
