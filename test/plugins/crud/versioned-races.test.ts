import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  bool,
  bulkUpdateAction,
  type Driver,
  embedded,
  entity,
  int,
  keelson,
  manyToMany,
  memoryDriver,
  noopLogger,
  postgres,
  prisma,
  string,
  toggleAction,
  toPrismaSchema,
} from "../../../src/index.ts";
import { freshMysql, freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { generatedClient } from "../../support/generate-client.ts";
import { request, startApp } from "../../support/http.ts";
import { askMysql, whyNoMysql } from "../../support/mysql-server.ts";
import { mysqlTables } from "../../support/mysql-tables.ts";
import { propertyOptions } from "../../support/properties.ts";
import { amount } from "../../support/suite.ts";

const rules = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const counter = entity("counter", { count: int.default(0), on: bool.default(false), tags: manyToMany(() => tag) })
  .versioned()
  .rules(rules)
  .actions({ toggle: toggleAction("on"), bulk: bulkUpdateAction });
const tag = entity("tag", { name: string }).rules(rules);
const entities = [counter, tag].map((one) => one.build());

interface Opened {
  readonly driver: Driver;
  drop(): Promise<unknown>;
}
const CLIENTS = amount(10, 50);
const noMysql = await whyNoMysql();
const DATABASES: readonly (readonly [name: string, open: () => Promise<Opened>, isMissing: boolean])[] = [
  ["memory", async () => ({ driver: memoryDriver(), drop: async () => {} }), false],
  [
    "SQLite",
    async () => {
      const { file, remove } = await freshSqliteFile();
      return { driver: embedded({ file }), drop: remove };
    },
    false,
  ],
  [
    "PostgreSQL",
    async () => {
      const { url, drop } = await freshPostgres();
      return { driver: postgres(url), drop };
    },
    false,
  ],
  [
    "MariaDB",
    async () => {
      const { url, drop } = await freshMysql();
      await askMysql(url, mysqlTables(toPrismaSchema(entities, { provider: "mysql" })));
      const Client = await generatedClient(entities, "mysql");
      return { driver: prisma(new Client({ adapter: new PrismaMariaDb(url) })), drop };
    },
    noMysql !== undefined,
  ],
];

async function start(open: () => Promise<Opened>) {
  const { driver, drop } = await open();
  onTestFinished(async () => void (await drop()));
  const api = keelson({ entities, driver, logger: noopLogger });
  await api.ready;
  return api;
}

for (const [name, open, isMissing] of DATABASES)
  describe.skipIf(isMissing)(`versions on ${name}${isMissing ? ` (${noMysql})` : ""}`, () => {
    it(`let ${CLIENTS} clients that read, change and write with If-Match reach that count`, {
      timeout: 120_000,
    }, async () => {
      const app = await startApp(await start(open));
      onTestFinished(app.close);
      const { json } = await request(app.url, "POST", "/api/counters", { body: {} });
      const path = `/api/counters/${json.id}`;
      let refused = 0;
      const count = async (): Promise<void> => {
        for (;;) {
          const { json: now, headers } = await request(app.url, "GET", path);
          const etag = headers.get("etag") as string;
          const body = { count: now.count + 1 };
          const { status } = await request(app.url, "PATCH", path, { body, headers: { "if-match": etag } });
          if (status === 200) return;
          expect(status).toBe(412);
          refused++;
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, count));
      const { json: last } = await request(app.url, "GET", path);
      expect([last.count, last.version]).toEqual([CLIENTS, CLIENTS + 1]);
      expect(refused).toBeGreaterThan(0);
    });

    it(`allow one of ${CLIENTS} writes with the same version`, async () => {
      const api = await start(open);
      onTestFinished(() => api.close());
      const { id } = await api.asSystem().counter.create({});
      const results = await Promise.allSettled(
        Array.from({ length: CLIENTS }, (_, count) => api.asSystem().counter.update(id, { count }, { ifVersion: 1 })),
      );
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const reasons = results.flatMap((result) => (result.status === "rejected" ? [result.reason.status] : []));
      expect(new Set(reasons)).toEqual(new Set([412]));
      expect((await api.asSystem().counter.get(id)).version).toBe(2);
    });

    it("grow by one with every kind of write, and with nothing else", { timeout: 120_000 }, async () => {
      const api = await start(open);
      onTestFinished(() => api.close());
      const client = api.as({ id: "ann" });
      const { id: tagId } = await client.tag.create({ name: "t" });
      const write = fc.oneof(
        fc.constantFrom("toggle", "links", "bulk", "driver", "updateMany", "nothing", "lock", "stale", "rolledBack"),
        fc.integer({ min: 0, max: 9 }),
      );
      const runs: Record<string, (id: string) => Promise<unknown>> = {
        toggle: (id) => client.counter.toggle(id),
        links: (id) => client.counter.update(id, { tagsIds: [tagId] }),
        bulk: (id) => client.counter.bulk({ ids: [id], data: { count: 3 } }),
        driver: (id) => api.driver.update("counter", { id }, { count: 4, version: 90 }),
        updateMany: (id) => api.driver.updateMany("counter", { id }, { on: true }),
        nothing: (id) => client.counter.update(id, {}),
        lock: (id) => api.driver.update("counter", { id }, { id }),
        stale: (id) => client.counter.update(id, { count: 1 }, { ifVersion: 1_000 }).catch(() => undefined),
        rolledBack: (id) =>
          api.driver
            .transaction(async (driver) => {
              await driver.update("counter", { id }, { count: 5 });
              throw new RangeError();
            })
            .catch(() => undefined),
      };
      const still = new Set<unknown>(["nothing", "lock", "stale", "rolledBack"]);
      await fc.assert(
        fc.asyncProperty(fc.array(write, { maxLength: 12 }), async (writes) => {
          const { id, version } = await client.counter.create({});
          expect(version).toBe(1);
          let expected = 1;
          for (const one of writes) {
            if (typeof one === "number") await client.counter.update(id, { count: one });
            else await runs[one]?.(id);
            if (!still.has(one)) expected += 1;
            expect((await api.driver.findOne("counter", { id }))?.version).toBe(expected);
          }
        }),
        propertyOptions(10),
      );
    });
  });
