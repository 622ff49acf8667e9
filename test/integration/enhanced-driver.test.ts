import {
  AuthenticationError,
  belongsTo,
  clearEncryptionKeys,
  consoleLogger,
  createEnhancedDriver,
  type Driver,
  defineRule,
  email,
  embedded,
  entity,
  entityOfRecord,
  initEncryption,
  int,
  memoryDriver,
  noopLogger,
  type Row,
  setLogger,
  string,
  tagRecord,
  text,
  verifyPassword,
} from "keelson";
import { withMiddleware } from "keelson/plugin";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { EnhancedDriverOptions } from "../../src/enhanced-driver.ts";
import { createModel } from "../../src/entity/index.ts";
import { freshSqliteFile } from "../support/databases.ts";

const KEY = "ab".repeat(32);
const EPOCH = new Date(0);

/** A rule that reads a value that no condition can compare. */
const unlocked = defineRule("enhancedUnlocked", ({ record }) => {
  const { phone, status } = record as Row;
  return phone !== "556" && status === "busy";
});
const busy = defineRule("enhancedBusy", ({ record }) => record?.status === "busy");

const person = entity("person", {
  name: string,
  email: email.unique(),
  password: string.password({ cost: 1 }),
  token: string.omit().optional(),
  role: string.default("person").writable("admin"),
  level: int.default(1).readonly(),
  salary: int.optional().readable("owner", "admin"),
}).ownedBy("id");
const note = entity("note", {
  text: text.encrypted().readable("owner"),
  phone: string.encrypted({ searchable: true }).optional(),
  status: string.default("idle"),
  pace: int.optional().writable(busy),
  speed: int.optional().writable(unlocked),
  author: belongsTo(() => person),
}).ownedBy("author");
const entities = [person, note];

const ann = { id: "ann", name: "Ann", email: "ann@shop.example", password: "correct horse", role: "person", level: 1 };
const stamps = { createdAt: EPOCH, updatedAt: EPOCH };
const annRow = { ...ann, token: "t-1", salary: 5000, ...stamps };
const noteRow = { id: "n1", text: "for my eyes", phone: "555", status: "busy", pace: null, authorId: "ann", ...stamps };

const DRIVERS: Readonly<Record<string, () => Promise<{ base: Driver; remove(): Promise<void> }>>> = {
  memory: async () => ({ base: memoryDriver(), remove: async () => {} }),
  SQLite: async () => {
    const { file, remove } = await freshSqliteFile();
    return { base: embedded({ file }), remove };
  },
};

beforeAll(() => setLogger(noopLogger));
afterAll(() => setLogger(consoleLogger));

describe.each(Object.entries(DRIVERS))("an enhanced driver on %s", (_, open) => {
  let base: Driver;
  let remove: () => Promise<void>;
  const enhance = (options: Partial<EnhancedDriverOptions> = {}) =>
    createEnhancedDriver(base, { entities, encryption: { key: KEY, bind: true }, ...options });

  beforeAll(async () => {
    ({ base, remove } = await open());
    const driver = enhance();
    await driver.connect();
    await driver.schema?.push();
  });
  afterEach(async () => {
    for (const one of [note, person]) await base.deleteMany(one, { id: { ne: "-" } });
  });
  afterAll(async () => {
    await base.disconnect();
    await remove();
  });

  async function plant(): Promise<void> {
    await enhance().create(person, annRow);
    await enhance().create(note, noteRow);
  }
  const stored = (one: typeof person | typeof note, id: string): Promise<Row> =>
    base.findOne(one.build(), { id }) as Promise<Row>;

  it("hashes stored passwords in every method", async () => {
    const driver = enhance();
    await driver.create(person, annRow);
    const more = ["bob", "cid"].map((id) => ({ ...annRow, id, email: `${id}@shop.example` }));
    expect(await driver.createMany(person, more)).toBe(2);
    await driver.update(person, { id: "bob" }, { password: "second" });
    await driver.updateMany(person, { name: "Ann", id: "cid" }, { password: "third" });
    await driver.transaction((inner) => inner.update(person, { id: "ann" }, { password: "fourth" }));
    for (const [id, password] of Object.entries({ ann: "fourth", bob: "second", cid: "third" })) {
      const { password: hash } = (await stored(person, id)) as { password: string };
      expect(hash).toMatch(/^\$pbkdf2\$2000\$/);
      expect(await verifyPassword(password, hash)).toBe(true);
    }
  });

  it("stores ciphertext bound to its record, returns plaintext, and finds by index", async () => {
    await plant();
    const row = await stored(note, "n1");
    expect([row.text, row.phone].join()).toMatch(/^v1:[^,]+,v1:[^,]+$/);
    const driver = enhance();
    expect(await driver.findOne(note, { phone: "555" })).toMatchObject({ text: "for my eyes", phone: "555" });
    expect(await driver.count(note, { phone: "556" })).toBe(0);
    const seen: unknown[] = [];
    for await (const rows of driver.stream(note, {}, 1)) seen.push(...rows.map((one) => one.text));
    expect(seen).toEqual(["for my eyes"]);
  });

  it("tags records, so that hidden columns are read only by name", async () => {
    await plant();
    const row = (await enhance().findOne(person, { id: "ann" })) as Row;
    expect(entityOfRecord(row)?.name).toBe("person");
    expect(Object.keys(row)).not.toEqual(expect.arrayContaining(["password"]));
    expect(JSON.stringify({ ...row })).not.toMatch(/pbkdf2|t-1/);
    expect([row.password, row.token]).toEqual([expect.stringMatching(/^\$pbkdf2/), "t-1"]);
  });

  /** A driver that runs a callback after each read outside a transaction. */
  function afterFinds(base: Driver, happens: () => Promise<void>): Driver {
    return withMiddleware(base, async (statement, next, inner) => {
      if (statement.kind !== "find" || inner !== base) return next(statement);
      const rows = await next(statement);
      await happens();
      return rows;
    });
  }

  describe("an enhanced driver on behalf of a user", () => {
    it("returns what the user may read, record by record, from every method", async () => {
      await plant();
      const asAnn = enhance({ user: { id: "ann" } });
      const asBob = enhance({ user: { id: "bob" } });
      expect(await asAnn.findOne(note, { id: "n1" })).toMatchObject({ text: "for my eyes", status: "busy" });
      const results = [
        await asBob.findOne(note, { id: "n1" }),
        ...(await asBob.findMany(note)),
        await asBob.update(note, { id: "n1" }, { status: "busy" }),
        await asBob.transaction((inner) => inner.findOne(note, { id: "n1" })),
      ];
      for await (const rows of asBob.stream(note)) results.push(...rows);
      expect(results).toHaveLength(5);
      for (const row of results) {
        expect(row).toMatchObject({ id: "n1", status: "busy" });
        expect(row).not.toHaveProperty("text");
        expect(row).not.toHaveProperty("phoneBidx");
      }
      const created = { ...annRow, id: "dee", email: "dee@shop.example" };
      expect(await asBob.create(person, created)).not.toHaveProperty("salary");
    });

    it("returns the selected columns, and decides on others too", async () => {
      await plant();
      const rows = await enhance({ user: { id: "ann" } }).findMany(note, { select: ["text", "status"] });
      expect(rows).toEqual([{ text: "for my eyes", status: "busy" }].map((row) => expect.objectContaining(row)));
      expect(Object.keys(rows[0] as Row).sort()).toEqual(["status", "text"]);
      const others = await enhance({ user: { id: "bob" } }).findMany(note, { select: ["text", "status"] });
      expect(Object.keys(others[0] as Row)).toEqual(["status"]);
    });

    it("stores what the user may write, with the given id and timestamps", async () => {
      const asAnn = enhance({ user: { id: "ann" } });
      await asAnn.create(person, { ...annRow, role: "admin", level: 9 });
      expect(await stored(person, "ann")).toMatchObject({ id: "ann", role: "person", level: 1, createdAt: EPOCH });
      await asAnn.createMany(person, [{ ...annRow, id: "eve", email: "eve@shop.example", role: "admin" }]);
      expect(await stored(person, "eve")).toMatchObject({ role: "person" });
      await asAnn.update(person, { id: "ann" }, { role: "admin", level: 9, name: "Ann L.", updatedAt: new Date(1) });
      expect(await stored(person, "ann")).toMatchObject({ role: "person", level: 1, name: "Ann L." });
      await asAnn.updateMany(person, { id: "ann" }, { role: "admin", name: "Ann M." });
      expect(await stored(person, "ann")).toMatchObject({ role: "person", name: "Ann M." });
      await enhance({ user: { id: "root", role: "admin" } }).update(person, { id: "ann" }, { role: "editor" });
      expect(await stored(person, "ann")).toMatchObject({ role: "editor" });
    });

    it("uses the caller's isAdmin", async () => {
      await plant();
      await enhance({ user: { id: "root" }, isAdmin: true }).update(person, { id: "ann" }, { role: "editor" });
      await enhance({ user: { id: "x", role: "admin" }, isAdmin: false }).update(person, { id: "ann" }, { role: "x" });
      expect(await stored(person, "ann")).toMatchObject({ role: "editor" });
    });

    it("decides record rules on the stored record, and never on the input", async () => {
      await plant();
      const asAnn = enhance({ user: { id: "ann" } });
      expect(await asAnn.update(note, { id: "n1" }, { pace: 3 })).toMatchObject({ pace: 3 });
      await asAnn.update(note, { id: "n1" }, { status: "idle" });
      expect(await asAnn.update(note, { id: "n1" }, { pace: 4, status: "busy" })).toMatchObject({ pace: 3 });
      await asAnn.updateMany(note, { id: "n1" }, { pace: 5 });
      expect(await stored(note, "n1")).toMatchObject({ pace: 3, status: "busy" });
      expect(await asAnn.update(note, { id: "none" }, { pace: 3 })).toBeNull();
    });

    it("applies a decision to no record that has changed since", async () => {
      await plant();
      let interfere = true;
      const racing = afterFinds(base, async () => {
        if (interfere) await base.update(note.build(), { id: "n1" }, { status: "idle" });
        interfere = false;
      });
      const asAnn = createEnhancedDriver(racing, {
        entities,
        encryption: { key: KEY, bind: true },
        user: { id: "ann" },
      });
      await asAnn.update(note, { id: "n1" }, { pace: 7 });
      expect(await stored(note, "n1")).toMatchObject({ pace: null, status: "idle" });
    });

    it.each<[string, Row]>([
      ["an encrypted value", { phone: "556" }],
      ["a plain column", { status: "idle" }],
    ])("applies a decision to no record that has changed since in %s", async (_what, change) => {
      await plant();
      let interfere = true;
      const asAnn = createEnhancedDriver(
        afterFinds(base, async () => {
          if (interfere) await enhance().update(note, { id: "n1" }, change);
          interfere = false;
        }),
        { entities, encryption: { key: KEY, bind: true }, user: { id: "ann" } },
      );
      const written = await asAnn.update(note, { id: "n1" }, { speed: 7, status: "busy" });
      expect(written).toMatchObject({ speed: null, status: "busy" });
      expect(await stored(note, "n1")).toMatchObject({ speed: null });
      // In a transaction, and without a concurrent change.
      await enhance().update(note, { id: "n1" }, { phone: "555", status: "busy" });
      expect(await asAnn.update(note, { id: "n1" }, { speed: 8 })).toMatchObject({ speed: 8 });
      await asAnn.transaction((inner) => inner.update(note, { id: "n1" }, { speed: 9 }));
      expect(await stored(note, "n1")).toMatchObject({ speed: 9 });
    });

    it("gives up on a record that changes again and again", async () => {
      await plant();
      let count = 0;
      const asAnn = createEnhancedDriver(
        afterFinds(base, async () => {
          await enhance().update(note, { id: "n1" }, { phone: `555-${++count}` });
        }),
        { entities, encryption: { key: KEY, bind: true }, user: { id: "ann" } },
      );
      await expect(asAnn.update(note, { id: "n1" }, { speed: 7 })).rejects.toMatchObject({ status: 409 });
      expect([await stored(note, "n1"), count]).toMatchObject([{ speed: null }, 3]);
    });

    it("uses the rules of the entity being written, not of the one that was read", async () => {
      const invite = entity("invite", { role: string }).build();
      const given = { ...tagRecord(invite, { role: "admin" }), ...annRow, role: "admin" };
      await enhance({ user: { id: "ann" } }).create(person, given);
      expect(await stored(person, "ann")).toMatchObject({ role: "person" });
    });

    it("does not allow a caller to give a record away", async () => {
      await plant();
      await enhance().create(person, { ...annRow, id: "bob", email: "bob@shop.example" });
      await enhance({ user: { id: "ann" } }).update(note, { id: "n1" }, { authorId: "bob", status: "free" });
      expect(await stored(note, "n1")).toMatchObject({ authorId: "ann", status: "free" });
    });

    it.each([
      ["null", null],
      ["undefined", undefined],
    ] as const)("treats %s as anonymous, not as the system", async (_name, user) => {
      await plant();
      const driver = enhance({ user });
      const row = (await driver.findOne(person, { id: "ann" })) as Row;
      expect(row).toMatchObject({ name: "Ann" });
      expect(["salary", "password", "token"].filter((name) => name in row)).toEqual([]);
      await driver.update(person, { id: "ann" }, { role: "admin" });
      expect(await stored(person, "ann")).toMatchObject({ role: "person" });
    });

    it("refuses a user without a valid id", async () => {
      await plant();
      await expect(enhance({ user: { id: "" } }).findOne(person, { id: "ann" })).rejects.toThrow(AuthenticationError);
    });
  });

  it("refuses unknown entities", async () => {
    await expect(enhance().findOne("ghost", { id: "1" })).rejects.toThrow(/no entity "ghost"/);
    await expect(enhance({ user: null }).update("ghost", { id: "1" }, {})).rejects.toThrow(/no entity "ghost"/);
  });
});

describe("creating an enhanced driver", () => {
  it("accepts entities alone, with the process-wide keys", async () => {
    initEncryption(KEY);
    onTestFinished(() => clearEncryptionKeys());
    const base = memoryDriver();
    const driver = createEnhancedDriver(base, entities);
    await driver.connect();
    await driver.create(person, annRow);
    await driver.create(note, noteRow);
    expect((await base.findOne(note.build(), { id: "n1" }))?.text).toMatch(/^v1:/);
    expect((await driver.findOne(note, { id: "n1" }))?.text).toBe("for my eyes");
  });

  it("reports everything that would keep an app from starting", () => {
    vi.stubEnv("NODE_ENV", "production");
    onTestFinished(() => void vi.unstubAllEnvs());
    const lost = entity("lost", { owner: belongsTo(() => person), key: string.encrypted() });
    expect(() => createEnhancedDriver(memoryDriver(), [lost])).toThrow(/"person" is not part of this app/);
    expect(() => createEnhancedDriver(memoryDriver(), entities)).toThrow(/encrypted\(\) needs a key.*too cheap/s);
  });

  it("connects with a context from the caller", async () => {
    const driver = createEnhancedDriver(memoryDriver(), [entity("tag", { name: string })]);
    await driver.connect({
      model: createModel([]),
      log: noopLogger,
      production: true,
    });
    await expect(driver.findMany("tag")).rejects.toThrow(/no entity "tag"/);
  });
});
