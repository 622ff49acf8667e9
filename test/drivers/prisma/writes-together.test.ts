import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, type Driver, datetime, entity, int, json, postgres, type Row, string } from "../../../src/index.ts";
import { connectDriver, driverContext } from "../../support/connect-driver.ts";
import { freshPostgres } from "../../support/databases.ts";
import { sample } from "../../support/entities.ts";

const owner = entity("owner", { name: string }).timestamps(false);
const label = entity("label", { name: string.unique(), size: int.default(0), deletedAt: datetime.optional() })
  .softDelete()
  .timestamps(false);
const note = entity("note", { title: string, size: int, meta: json.optional(), owner: belongsTo(() => owner) })
  .timestamps(false)
  .versioned();
const ticket = entity("ticket", { title: string, size: int }).id(int).timestamps(false);

const many = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

describe("simultaneous writes on PostgreSQL", () => {
  let database: Awaited<ReturnType<typeof freshPostgres>>;
  let driver: Driver;
  const sent: string[] = [];
  const { query } = pg.Client.prototype;

  beforeAll(async () => {
    database = await freshPostgres();
    driver = await connectDriver(postgres(database.url, { poolSize: 4 }), [owner, label, note, sample, ticket]);
    pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
      const [first] = given as [string | { text: string }];
      sent.push((typeof first === "string" ? first : first.text).replaceAll('"', ""));
      return Reflect.apply(query, this, given);
    } as typeof query;
  });
  afterAll(async () => {
    pg.Client.prototype.query = query;
    await driver.disconnect();
    await database.drop();
  });
  beforeEach(async () => {
    for (const name of ["note", "label", "owner"]) await driver.deleteMany(name, { id: { ne: "" } });
    await driver.deleteMany("ticket", { id: { gt: 0 } });
    await driver.create("owner", { id: "o1", name: "ann" });
    await driver.create("owner", { id: "o2", name: "bob" });
    sent.length = 0;
  });

  const plant = (count: number): Promise<Row[]> =>
    Promise.all(
      many(count).map((i) =>
        driver.create("note", { id: `n${i}`, title: `t${i}`, size: i, meta: null, ownerId: "o1" }),
      ),
    );
  async function ask(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }
  const stored = async (): Promise<readonly Row[]> => driver.findMany("note");

  it("store their records in a few statements, and return to each its own", async () => {
    const made = await plant(20);
    expect(made.map(({ id, title, version }) => [id, title, version])).toEqual(
      many(20).map((i) => [`n${i}`, `t${i}`, 1]),
    );
    expect(sent.length).toBeLessThanOrEqual(4);
    expect(await stored()).toHaveLength(20);
  });

  it("store records with ids of the database in a few statements, and return to each its own", async () => {
    const made = await Promise.all(many(20).map((i) => driver.create("ticket", { title: `t${i}`, size: i })));
    expect(made.map(({ title, size }) => [title, size])).toEqual(many(20).map((i) => [`t${i}`, i]));
    expect(sent.length).toBeLessThanOrEqual(4);
    expect(await Promise.all(made.map(({ id }) => driver.findOne("ticket", { id: id as number })))).toEqual(made);
    expect(await driver.count("ticket")).toBe(20);
  });

  it("are stored once each, except those that a trigger skips", async () => {
    await ask(`CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.size < 0 THEN RETURN NULL; END IF; RETURN NEW; END $$;
      CREATE TRIGGER skip BEFORE INSERT ON "ticket" FOR EACH ROW EXECUTE FUNCTION skip();
      CREATE TRIGGER skip BEFORE INSERT ON "note" FOR EACH ROW EXECUTE FUNCTION skip()`);
    const sizes = [1, -2, 3, -4, 5];
    const tickets = await Promise.allSettled(sizes.map((size) => driver.create("ticket", { title: "t", size })));
    const notes = await Promise.allSettled(
      sizes.map((size) => driver.create("note", { id: `s${size}`, title: "t", size, meta: null, ownerId: "o1" })),
    );
    const skipped = await Promise.allSettled([-1, -2].map((size) => driver.create("ticket", { title: "t", size })));
    await ask("DROP FUNCTION skip CASCADE");
    for (const [name, made] of [
      ["ticket", tickets],
      ["note", notes],
    ] as const) {
      const outcomes = made.map((one) => (one.status === "fulfilled" ? one.value.size : one.reason.code));
      expect(outcomes).toEqual([1, "INTERNAL", 3, "INTERNAL", 5]);
      expect((await driver.findMany(name)).map(({ size }) => size).sort()).toEqual([1, 3, 5]);
    }
    expect(skipped.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  it("are stored in tables with rules of the database", async () => {
    await ask('CREATE RULE noted AS ON INSERT TO "ticket" DO ALSO NOTIFY ticket');
    const made = await Promise.all(many(3).map((i) => driver.create("ticket", { title: `t${i}`, size: i })));
    await ask('DROP RULE noted ON "ticket"');
    expect(made.map(({ size }) => size)).toEqual([0, 1, 2]);
    expect(await driver.count("ticket")).toBe(3);
  });

  it("change their records in one statement, and count each version once", async () => {
    await plant(20);
    sent.length = 0;
    const changed = await Promise.all(
      many(20).map((i) => driver.update("note", { id: `n${i}`, ownerId: "o1" }, { title: `new ${i}`, size: i + 50 })),
    );
    expect(sent).toHaveLength(1);
    const expected = many(20).map((i) => ({
      id: `n${i}`,
      title: `new ${i}`,
      size: i + 50,
      meta: null,
      ownerId: "o1",
      version: 2,
    }));
    expect(changed).toEqual(expected);
    expect(await Promise.all(many(20).map((i) => driver.findOne("note", { id: `n${i}` })))).toEqual(expected);
  });

  it("change no record that does not match, and report this to their caller", async () => {
    await plant(4);
    const write = (id: string, ownerId: string): Promise<Row | null> =>
      driver.update("note", { id, ownerId }, { title: "taken over" });
    const changed = await Promise.all([write("n0", "o1"), write("n1", "o2"), write("none", "o1"), write("n3", "o1")]);
    expect(changed.map((row) => row?.title ?? null)).toEqual(["taken over", null, null, "taken over"]);
    expect((await stored()).map(({ title }) => title)).toEqual(["taken over", "t1", "t2", "taken over"]);
  });

  it("of the same record all succeed", async () => {
    await plant(1);
    const sizes = await Promise.all(many(10).map((i) => driver.update("note", { id: "n0" }, { size: i })));
    expect(sizes.map((row) => row?.size)).toEqual(many(10));
    expect((await driver.findOne("note", { id: "n0" }))?.version).toBe(11);
  });

  it("of the same version succeed for one", async () => {
    await plant(1);
    const won = await Promise.all(many(10).map((i) => driver.update("note", { id: "n0", version: 1 }, { size: i })));
    expect(won.filter((row) => row !== null)).toHaveLength(1);
    expect((await driver.findOne("note", { id: "n0" }))?.version).toBe(2);
  });

  it("fail only for the record that the database refuses", async () => {
    const made = await Promise.allSettled(
      many(6).map((i) =>
        driver.create("note", { id: `n${i}`, title: "t", size: i, meta: null, ownerId: i === 3 ? "nobody" : "o1" }),
      ),
    );
    expect(made.map(({ status }) => status === "fulfilled")).toEqual([true, true, true, false, true, true]);
    expect(made[3]).toMatchObject({ reason: { code: "VALIDATION_FAILED", errors: { ownerId: expect.any(String) } } });
    const changed = await Promise.allSettled(
      many(3).map((i) => driver.update("note", { id: `n${i}` }, { ownerId: i === 1 ? "nobody" : "o2" })),
    );
    expect(changed.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((await stored()).map(({ ownerId }) => ownerId)).toEqual(["o2", "o1", "o2", "o1", "o1"]);
  });

  it("of unique values have a statement each, since one may wait for another's value", async () => {
    const made = await Promise.allSettled(
      many(4).map((i) =>
        driver.create("label", { id: `l${i}`, name: i === 2 ? "x1" : `x${i}`, size: 0, deletedAt: null }),
      ),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect(sent).toHaveLength(4);
    sent.length = 0;
    await Promise.all(["l0", "l3"].map((id) => driver.update("label", { id }, { deletedAt: new Date() })));
    await Promise.all(["l0", "l3"].map((id) => driver.update("label", { id }, { name: `renamed ${id}` })));
    expect(sent).toHaveLength(4);
    await Promise.all(["l0", "l3"].map((id) => driver.update("label", { id }, { size: 4 })));
    expect(sent).toHaveLength(5);
  });

  it("wait only for their own record's lock", async () => {
    await plant(3);
    let held: Promise<Row | null> | undefined;
    await driver.transaction(async (inner) => {
      await inner.update("note", { id: "n1" }, { title: "held" });
      const [first, second, third] = many(3).map((i) => driver.update("note", { id: `n${i}` }, { size: 100 + i }));
      held = second;
      expect((await Promise.all([first, third])).map((row) => row?.size)).toEqual([100, 102]);
    });
    expect(await held).toMatchObject({ title: "held", size: 101, version: 3 });
  });

  it("store any value as a single write does", async () => {
    const values: Row = {
      string: 'it\'s \\ "quoted", {1,2}',
      text: "ä\n\t€",
      email: "a@example.com",
      int: -7,
      float: 1.5e-7,
      bool: true,
      datetime: new Date("1999-12-31T23:59:59.999Z"),
      json: { a: [1, "two", null], b: "'" },
      enum: "high",
    };
    const optional = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [`optional${name.charAt(0).toUpperCase()}${name.slice(1)}`, value]),
    );
    const nulls = Object.fromEntries(Object.keys(optional).map((name) => [name, null]));
    const rows = many(4).map((i) => ({ id: `s${i}`, ...values, ...(i % 2 === 0 ? optional : nulls) }));
    const made = await Promise.all(rows.map((row) => driver.create("sample", row)));
    expect(made).toEqual(rows.map((row) => expect.objectContaining(row)));
    sent.length = 0;
    const swapped = await Promise.all(
      many(4).map((i) => driver.update("sample", { id: `s${i}` }, { ...values, ...(i % 2 === 0 ? nulls : optional) })),
    );
    expect(sent).toHaveLength(1);
    expect(swapped).toEqual(
      rows.map(({ id }, i) => expect.objectContaining({ id, ...values, ...(i % 2 === 0 ? nulls : optional) })),
    );
  });

  it("fail only for the record that a check or trigger of the database refuses", async () => {
    await plant(3);
    await ask('ALTER TABLE "note" ADD CONSTRAINT small CHECK (size < 1000)');
    const made = await Promise.allSettled(
      many(3).map((i) =>
        driver.create("note", { id: `c${i}`, title: "t", size: i === 1 ? 5_000 : i, meta: null, ownerId: "o1" }),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    const changed = await Promise.allSettled(
      many(3).map((i) => driver.update("note", { id: `n${i}` }, { size: i === 1 ? 5_000 : 7 })),
    );
    expect(changed.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    await ask('ALTER TABLE "note" DROP CONSTRAINT small');
    expect((await driver.findMany("note", { where: { size: 7 } })).map(({ id, version }) => [id, version])).toEqual([
      ["n0", 2],
      ["n2", 2],
    ]);
  });

  it("all complete when they overlap with others, under any query plan", async () => {
    await plant(12);
    await ask("ANALYZE");
    const rivals = await Promise.all(
      ["auto", "force_generic_plan"].map(async (mode) => {
        const url = new URL(database.url);
        url.searchParams.set("options", `-c plan_cache_mode=${mode} -c enable_seqscan=off -c enable_hashjoin=off`);
        const rival = postgres(url.href, { poolSize: 4 });
        await rival.connect(driverContext([owner, label, note, sample]));
        return rival;
      }),
    );
    for (let round = 0; round < 15; round++)
      await Promise.all(
        rivals.flatMap((rival) =>
          many(12).map(async (i) =>
            expect(await rival.update("note", { id: `n${i}` }, { size: round })).not.toBeNull(),
          ),
        ),
      );
    await Promise.all(rivals.map((rival) => rival.disconnect()));
    expect((await stored()).map(({ version }) => version)).toEqual(many(12).map(() => 31));
  });

  it("of records whose ids are stored in other letters run once, and return", async () => {
    await ask('CREATE TABLE "thing" (id uuid PRIMARY KEY, name text NOT NULL)');
    const thing = entity("thing", { name: string }).timestamps(false);
    const own = postgres(database.url);
    await own.connect(driverContext([thing]));
    const ids = many(3).map((i) => `0190A000-0000-7000-8000-00000000000${i}`);
    const made = await Promise.all(ids.map((id, i) => own.create("thing", { id, name: `m${i}` })));
    expect(made.map((row) => row.name)).toEqual(["m0", "m1", "m2"]);
    const changed = await Promise.all(ids.map((id, i) => own.update("thing", { id }, { name: `c${i}` })));
    expect(changed.map((row) => row?.name)).toEqual(["c0", "c1", "c2"]);
    expect((await own.update("thing", { id: ids[0] }, { name: "alone" }))?.name).toBe("alone");
    await own.disconnect();
    await ask('DROP TABLE "thing"');
  });

  it("that are refused while the driver disconnects fail, and none waits forever", async () => {
    const own = postgres(database.url, { poolSize: 2 });
    await own.connect(driverContext([owner, note]));
    const creating = many(3).map((i) =>
      own.create("note", { id: `d${i}`, title: "t", size: i, meta: null, ownerId: i === 1 ? "nobody" : "o1" }),
    );
    const settled = Promise.allSettled(creating);
    await new Promise((resolve) => setImmediate(resolve));
    await own.disconnect();
    expect((await settled).length).toBe(3);
  });

  describe("in a transaction", () => {
    it("stay in the order in which statements were requested", async () => {
      await plant(2);
      const seen = await driver.transaction((inner) =>
        Promise.all([
          inner.update("note", { id: "n0" }, { size: 10 }),
          inner.findMany("note", { select: ["size"] }),
          inner.update("note", { id: "n1" }, { size: 11 }),
          inner.findMany("note", { select: ["size"] }),
        ]),
      );
      expect(seen[1]).toEqual([{ size: 10 }, { size: 1 }]);
      expect(seen[3]).toEqual([{ size: 10 }, { size: 11 }]);
    });

    it("are not stored after a rollback, even those that were not awaited", async () => {
      await plant(2);
      const left: Promise<unknown>[] = [];
      const work = driver.transaction(async (inner) => {
        left.push(inner.update("note", { id: "n0" }, { size: 99 }).catch(() => undefined));
        left.push(
          inner.create("note", { id: "late", title: "t", size: 1, meta: null, ownerId: "o1" }).catch(() => undefined),
        );
        throw new Error("changed my mind");
      });
      await expect(work).rejects.toThrow("changed my mind");
      await Promise.all(left);
      expect((await stored()).map(({ id, size }) => [id, size])).toEqual([
        ["n0", 0],
        ["n1", 1],
      ]);
    });
  });
});
