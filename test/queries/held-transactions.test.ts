import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { transactionSlots } from "../../src/gate/statement/transaction-slots.ts";
import {
  belongsTo,
  bulkUpdateAction,
  createPlugin,
  type Driver,
  defineRule,
  entity,
  hasMany,
  importAction,
  memoryDriver,
  postgres,
  string,
} from "../../src/index.ts";
import { KeyedTurns } from "../../src/plugins/batch/keyed-turns.ts";
import { idempotency } from "../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { freshPostgres } from "../support/databases.ts";
import { deferred } from "../support/deferred.ts";
import { SQL_DATABASES, type TestDatabase } from "../support/sql-databases.ts";
import { oneOf } from "../support/suite.ts";

const everyone = ["everyone"];
const all = { create: everyone, read: everyone, update: everyone };
/** Milliseconds that have passed without waiting for them. */
let passed = 0;
const slow = defineRule("slowRule", () => {
  passed += 700;
  return true;
});
const team = entity("team", { name: string, people: hasMany(() => person) }).rules(all);
const person = entity("person", {
  login: string,
  password: string.password({ cost: 12 }).optional(),
  team: belongsTo(() => team).optional(),
}).rules(all);
const thing = entity("thing", { name: string }).rules({ ...all, update: [slow] });

// SQLite has one writer at a time: while it is busy, all others wait.
describe.each(SQL_DATABASES.slice(0, 1))("a transaction that a caller has composed, on %s", (_name, open) => {
  let database: TestDatabase;
  let app: ReturnType<typeof openApp>;
  const openApp = () => createTestApp({ entities: [team, person, thing], driver: database.driver });
  beforeAll(async () => {
    database = await open();
    app = openApp();
    await app.api.ready;
    await app.api.asSystem().thing.create({ id: "t1", name: "a" });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  const people = Array.from({ length: 20 }, (_, index) => ({ login: `p${index}`, password: "correct horse" }));
  const sentence = /takes too long to be done all at once|was the turn of its password/;

  const ways: readonly (readonly [string, string, object])[] = [
    ["a batch", "/api/batch", people.map((body) => ({ method: "POST", path: "/people", body }))],
    ["nested writes", "/api/teams", { name: "x", people: { create: people } }],
  ];
  it.each(oneOf(1, ways))(
    "is aborted when the passwords of %s take long, and other requests continue",
    async (_kind, path, body) => {
      const sent = app.as({ id: "eve" }).request("POST", path, body);
      await sleep(50);
      const other = await app.as({ id: "bob" }).request("POST", "/api/things", { name: "b" });
      const { status, body: answer } = await sent;
      expect([other.status, status, (answer as { message: string }).message]).toEqual([
        201,
        expect.toSatisfy((code: number) => code === 400 || code === 503),
        expect.stringMatching(sentence),
      ]);
      expect(await app.api.asSystem().person.count()).toBe(0);
    },
    120_000,
  );

  it("accepts no further change once it has been open for too long", async () => {
    const { now } = performance;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + passed);
    onTestFinished(() => clock.mockRestore());
    const item = { method: "PATCH", path: "/things/t1", body: { name: "b" } };
    const { status, body } = await app.as({ id: "eve" }).request("POST", "/api/batch", Array(20).fill(item));
    expect([status, (body as { message: string }).message]).toEqual([400, expect.stringMatching(sentence)]);
    expect((await app.api.asSystem().thing.get("t1")).name).toBe("a");
  }, 120_000);
});

function takeTwoMilliseconds(): void {
  const end = performance.now() + 2;
  while (performance.now() < end);
}

// An in-process database responds without a pause.
describe("while many changes are made at once, other requests run", () => {
  it.each([
    ["nested writes", "/api/teams", (body: object) => body],
    ["a batch", "/api/batch", (body: object) => [{ method: "POST", path: "/teams", body }]],
  ])("between those of %s", async (_kind, path, bodyOf) => {
    const busy = createPlugin({
      id: "busy",
      setup: ({ hooks }) => hooks.on("operation:validate", takeTwoMilliseconds),
    });
    const app = createTestApp({ entities: [team, person, thing], plugins: [busy] });
    const create = Array.from({ length: 60 }, (_, index) => ({ login: `p${index}` }));
    let turns = 0;
    let next = setImmediate(function count() {
      turns++;
      next = setImmediate(count);
    });
    const { status } = await app.as({ id: "eve" }).request("POST", path, bodyOf({ name: "x", people: { create } }));
    clearImmediate(next);
    expect([status, turns > 1]).toEqual([path === "/api/batch" ? 200 : 201, true]);
    await app.close();
  });
});

describe.each(SQL_DATABASES.slice(1))("transactions that callers have composed, on %s", (_name, open) => {
  it("of any kind use at most half of the connections", async () => {
    const database = await open();
    let held = 0;
    let most = 0;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holding = createPlugin({
      id: "holding",
      setup: ({ hooks }) =>
        hooks.on("operation:execute", async ({ entity: { name }, data }) => {
          if (name !== "person" || !String(data.login).startsWith("held")) return;
          most = Math.max(most, ++held);
          await released;
          held--;
        }),
    });
    const driver = postgres(database.url, { poolSize: 4 });
    const plugins = [idempotency(), holding];
    const app = createTestApp({ entities: [team, person, thing], driver, plugins });
    await app.api.ready;
    const login = (index: number) => ({ login: `held${index}` });
    const asks = (index: number) => {
      const caller = app.as({ id: `u${index}` });
      const nested = { name: "x", people: { create: [login(index)] } };
      if (index % 3 === 0) return caller.request("POST", "/api/teams", nested);
      if (index % 3 === 1)
        return caller.request("POST", "/api/batch", [{ method: "POST", path: "/people", body: login(index) }]);
      return caller.request("POST", "/api/people", login(index), { "idempotency-key": `key-${index}` });
    };
    const sent = Array.from({ length: 9 }, (_, index) => asks(index));
    while (held < 2) await nextTurn();
    const others = Array.from({ length: 20 }, () =>
      app.as({ id: "bob" }).request("POST", "/api/things", { name: "b" }),
    );
    for (const { status } of await Promise.all(others)) expect(status).toBe(201);
    release();
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect([most, statuses.every((status) => status < 300)]).toEqual([2, true]);
    await app.close();
    await database.drop();
  });
});

describe("turns of batches", () => {
  it("come after a while, however long earlier ones take", async () => {
    const turns = new KeyedTurns(50);
    const told: string[] = [];
    const first = turns.run(["a", "b"], () => sleep(400).then(() => void told.push("first")));
    const second = turns.run(["b"], async () => void told.push("second"));
    const apart = turns.run(["c"], async () => void told.push("apart"));
    await Promise.all([first, second, apart]);
    expect(told).toEqual(["apart", "second", "first"]);
  });
});

// Each waits in a rule, inside its transaction, until all may continue.
describe("of a pool of four connections, two at most", () => {
  let held = 0;
  let released = deferred<void>();
  const waiting = defineRule("heldTransactionsWaiting", async ({ record, user }) => {
    if (user?.id !== "eve" || !String(record?.code).startsWith("waiting")) return record !== null;
    held++;
    await released.promise;
    return true;
  });
  const parcel = entity("parcel", { code: string.unique(), note: string.optional() })
    .rules({ read: everyone, create: [waiting], update: [waiting] })
    .actions({ bulkUpdate: bulkUpdateAction, import: importAction });
  let app: ReturnType<typeof openApp>;
  let drop: () => Promise<void>;
  const openApp = (url: string) =>
    createTestApp({
      entities: [parcel],
      driver: postgres(url, { poolSize: 4 }),
      limits: { ruleMs: 30_000 },
      plugins: [idempotency()],
    });
  beforeAll(async () => {
    const database = await freshPostgres();
    drop = database.drop;
    app = openApp(database.url);
    await app.api.ready;
    for (const id of ["a", "b"]) await app.api.asSystem().parcel.create({ id, code: `waiting ${id}` });
  });
  afterAll(async () => {
    await app?.close();
    await drop?.();
  });

  const batchOf = (code: string) =>
    [`first ${code}`, code].map((own) => ({ method: "POST", path: "/parcels", body: { code: own } }));
  it.each([
    ["bulk updates", "PUT", () => "/api/parcels/bulk", () => ({ ids: ["a", "b"], data: { note: "n" } }), false],
    ["imports", "POST", () => "/api/parcels/import", (code: string) => [{ code }], false],
    ["batches, with and without a key", "POST", () => "/api/batch", batchOf, true],
  ])(
    "are used by %s of one caller",
    async (kind, method, path, bodyOf, isKeyed) => {
      held = 0;
      released = deferred<void>();
      const eve = app.as({ id: "eve" });
      const sent = Array.from({ length: 8 }, (_, index) =>
        eve.request(
          method,
          path(),
          bodyOf(`waiting ${kind} ${index}`),
          isKeyed && index % 2 === 0 ? { "idempotency-key": `${kind} ${index}`.replaceAll(/\W/g, "-") } : {},
        ),
      );
      while (held === 0) await sleep(5);
      const others = Array.from({ length: 4 }, (_, index) =>
        app.as({ id: "bob" }).request("POST", "/api/parcels", { code: `${kind} of others ${index}` }),
      );
      expect((await Promise.all(others)).map(({ status }) => status)).toEqual(Array(4).fill(201));
      expect(held).toBeLessThanOrEqual(2);
      released.resolve();
      expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(Array(8).fill(200));
    },
    60_000,
  );
});

describe("transactions that are open at the same time", () => {
  it("leave connections to others, and callers take turns", async () => {
    const driver = { ...memoryDriver(), capabilities: { ...memoryDriver().capabilities, transactions: 4 } };
    const inTurn = transactionSlots(driver as Driver);
    let open = 0;
    let most = 0;
    const told: string[] = [];
    const work = (caller: string) =>
      inTurn(async () => {
        most = Math.max(most, ++open);
        await sleep(10);
        told.push(caller);
        open--;
      }, caller);
    await Promise.all([..."aaaaaaaabc"].map(work));
    expect([most, told.join("")]).toEqual([2, "aaabcaaaaa"]);
  });
});
