import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bool,
  createEnhancedDriver,
  type Driver,
  datetime,
  defineRule,
  email,
  embedded,
  entity,
  enums,
  fieldSecurity,
  float,
  int,
  json,
  keelson,
  memoryDriver,
  postgres,
  type Row,
  string,
  text,
} from "../../../src/index.ts";
import { recordingLogger } from "../../../src/testing/index.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { createHandlerApp } from "./handler-app.ts";

const everyone = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const KEY = "0123456789abcdef".repeat(4);
const CIPHERTEXT = /^k1:(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Values of every kind as callers send and receive them. */
const KINDS = {
  string: [string, ["a", "v1:AAAA", "x".repeat(255), "🦉".repeat(255), ""]],
  text: [text, ["line\nline", "k1:".concat("A".repeat(60)), "é".repeat(10_000)]],
  email: [email, ["ann@example.com"]],
  int: [int, [0, -2_147_483_648, 2_147_483_647]],
  float: [float, [0.1, -1.5e300, 5e-324]],
  bool: [bool, [true, false]],
  datetime: [datetime, ["2024-02-29T12:00:00.123Z", "1969-12-31T23:59:59.999Z"]],
  json: [json, [{ a: [1, "x", null, { b: false }] }, [], "text", 0, true]],
  enums: [enums("low", "high"), ["low", "high"]],
} as const;

const everything = entity("everything", {
  ...Object.fromEntries(Object.entries(KINDS).map(([name, [field]]) => [name, field.encrypted().optional()])),
}).rules(everyone);
const note = entity("note", {
  title: string.default("untitled"),
  secret: text.encrypted(),
  other: text.encrypted().optional(),
  ssn: string.encrypted({ searchable: true }).unique().optional(),
  level: int.encrypted({ searchable: true }).optional(),
}).rules(everyone);
const letter = entity("letter", { ssn: string.encrypted({ searchable: true }).unique().optional() }).rules(everyone);

const DATABASES: readonly (readonly [string, () => Promise<{ driver: Driver; drop(): Promise<void> }>])[] = [
  ["memory", async () => ({ driver: memoryDriver(), drop: async () => {} })],
  [
    "SQLite",
    async () => {
      const { file, remove } = await freshSqliteFile();
      return { driver: embedded({ file }), drop: remove };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const { url, drop } = await freshPostgres();
      return { driver: postgres(url), drop };
    },
  ],
];

describe.each(DATABASES)("encrypted fields on %s", (_name, open) => {
  const log = recordingLogger();
  const makeApp = (driver: Driver) =>
    createHandlerApp({
      entities: [everything, note, letter],
      driver,
      logger: log,
      encryption: { key: KEY, keyId: "k1", bind: true },
    });
  let app: ReturnType<typeof makeApp>;
  let drop: () => Promise<void>;
  const send = (method: string, path: string, body?: unknown) => app.as(null).request(method, `/api${path}`, body);
  /** Direct access: the driver that the app was given. */
  const stored = async (name: string, id: string): Promise<Row> =>
    (await app.api.driver.findOne(name, { id })) ?? expect.fail(`${name} ${id} is missing`);
  const newNote = async (data: Row): Promise<string> => {
    const { status, body } = await send("POST", "/notes", { secret: "a secret", ...data });
    expect(status).toBe(201);
    return (body as { id: string }).id;
  };

  beforeAll(async () => {
    const database = await open();
    app = makeApp(database.driver);
    drop = database.drop;
    await app.api.ready;
  });
  afterAll(async () => {
    await app.close();
    await drop();
  });

  it.each(Object.entries(KINDS).flatMap(([name, [, values]]) => values.map((value) => [name, value] as const)))(
    "of type %s keep their values: %j",
    async (name, value) => {
      const made = await send("POST", "/everythings", { [name]: value });
      expect([made.status, (made.body as Row)[name]]).toEqual([201, value]);
      const { id } = made.body as { id: string };
      expect(((await send("GET", `/everythings/${id}`)).body as Row)[name]).toEqual(value);
      const raw = String((await stored("everything", id))[name]);
      expect(raw).toMatch(CIPHERTEXT);
      const written = typeof value === "string" && name !== "datetime" && name !== "json" ? value : undefined;
      if (written !== undefined)
        expect(Buffer.from(raw.slice(3), "base64")).toHaveLength(12 + Buffer.byteLength(written) + 16);
      // Once more over itself: a client can send back every value.
      expect(((await send("PATCH", `/everythings/${id}`, { [name]: value })).body as Row)[name]).toEqual(value);
      expect((await stored("everything", id))[name]).not.toBe(raw);
      const { value: read } = await app.inHandler(async ({ driver }) => driver.findOne("everything", { id }));
      const inCode = name === "datetime" ? new Date(value as string) : value;
      expect(read?.[name]).toEqual(inCode);
    },
  );

  it("that are empty are null in the table too", async () => {
    const { body } = await send("POST", "/everythings", {});
    const { id, ...rest } = body as Row;
    expect(rest).toMatchObject(Object.fromEntries(Object.keys(KINDS).map((name) => [name, null])));
    expect(await stored("everything", String(id))).toMatchObject({ string: null, json: null, int: null });
  });

  it("have different ciphertexts for equal values", async () => {
    const ids = [await newNote({ other: "a secret" }), await newNote({})];
    const rows = await Promise.all(ids.map((id) => stored("note", id)));
    expect(new Set([rows[0]?.secret, rows[0]?.other, rows[1]?.secret]).size).toBe(3);
  });

  it("are encrypted and decrypted by a handler's driver, in every method", async () => {
    const now = new Date();
    const row = (id: string): Row => ({ id, title: "bulk", secret: `of ${id}`, createdAt: now, updatedAt: now });
    const { value } = await app.inHandler(async ({ driver }) => {
      const created = await driver.create("note", { ...row("h1"), ssn: "h-1", level: 1 });
      await driver.createMany("note", [row("h2"), { ...row("h3"), level: 3 }]);
      const updated = await driver.update("note", { id: "h2" }, { secret: "of h2 anew" });
      const rolledBack = await driver
        .transaction(async (inner) => {
          await inner.update("note", { id: "h1" }, { secret: "never" });
          throw new TypeError("no");
        })
        .catch(({ name }: Error) => name);
      const inside = await driver.transaction(async (inner) => {
        await inner.update("note", { id: "h3" }, { secret: "of h3 anew" });
        return inner.findOne("note", { id: "h3" });
      });
      const streamed: unknown[] = [];
      for await (const rows of driver.stream("note", { where: { title: "bulk" } }, 1))
        streamed.push(...rows.map(({ secret }) => secret));
      return {
        created: [created.secret, created.ssn, created.level],
        updated: updated?.secret,
        rolledBack,
        inside: inside?.secret,
        streamed: streamed.sort(),
        selected: await driver.findMany("note", {
          where: { title: "bulk" },
          select: ["secret"],
          sort: [{ field: "id", direction: "asc" }],
        }),
        one: await driver.findOne("note", { ssn: "h-1" }, { select: ["level"] }),
        count: await driver.count("note", { OR: [{ ssn: "h-1" }, { level: { in: [3, 4] } }], NOT: { level: null } }),
        none: await driver.update("note", { id: "nothing" }, { secret: "x" }),
      };
    });
    expect(value).toMatchObject({
      created: ["of h1", "h-1", 1],
      updated: "of h2 anew",
      rolledBack: "TypeError",
      inside: "of h3 anew",
      streamed: ["of h1", "of h2 anew", "of h3 anew"],
      count: 2,
      none: null,
    });
    expect(value.selected.map((one) => ({ ...one }))).toMatchObject([
      { secret: "of h1" },
      { secret: "of h2 anew" },
      { secret: "of h3 anew" },
    ]);
    expect(value.selected.map((one) => Object.keys(one))).toEqual([["secret"], ["secret"], ["secret"]]);
    expect(value.one?.level).toBe(1);
    for (const id of ["h1", "h2", "h3"]) expect((await stored("note", id)).secret).toMatch(CIPHERTEXT);
  });

  it("changed on many records at once have different ciphertexts, bound to each record", async () => {
    const ids = [await newNote({ title: "many" }), await newNote({ title: "many" }), await newNote({ title: "many" })];
    const { value } = await app.inHandler(async ({ driver }) => [
      await driver.updateMany("note", { title: "many" }, { secret: "the same", level: 9 }),
      await driver.updateMany("note", { level: 9 }, { title: "found" }),
      await driver.updateMany("note", { level: 9, title: "found" }, { secret: "the same again", title: "changed" }),
    ]);
    expect(value).toEqual([3, 3, 3]);
    const rows = await Promise.all(ids.map((id) => stored("note", id)));
    expect(new Set(rows.map(({ secret }) => secret)).size).toBe(3);
    for (const id of ids) expect((await send("GET", `/notes/${id}`)).body).toMatchObject({ secret: "the same again" });
    await app.inHandler(({ driver }) => driver.deleteMany("note", { level: 9 }));
    expect(await app.api.driver.count("note", { title: "changed" })).toBe(0);
  });

  it.each([{}, { AND: [] }])("are not changed on all records by mistake: %j", async (where) => {
    await newNote({});
    for (const data of [{ secret: "x" }, { title: "x" }])
      await expect(app.inHandler(({ driver }) => driver.updateMany("note", where, data))).rejects.toThrow(
        "changing several records takes a condition",
      );
    expect(await app.api.driver.count("note", { title: "x" })).toBe(0);
  });

  it("of one record are changed by any conditions that match only it", async () => {
    const id = await newNote({ title: "the one" });
    const change = async (where: Row) =>
      (await app.inHandler(({ driver }) => driver.update("note", where, { secret: "anew" }))).value;
    expect(await change({ title: "the one" })).toMatchObject({ id, secret: "anew" });
    expect((await stored("note", id)).secret).toMatch(CIPHERTEXT);
    expect((await send("GET", `/notes/${id}`)).body).toMatchObject({ secret: "anew" });
    expect(await change({ title: "not there" })).toBeNull();
    await newNote({ title: "the one" });
    await expect(change({ title: "the one" })).rejects.toMatchObject({ status: 409 });
  });

  it("without a blind index can only be compared with null", async () => {
    await newNote({ title: "one", other: null });
    for (const where of [{ other: "x" }, { other: { in: ["x"] } }, { NOT: { other: "x" } }, { OR: [{ secret: "x" }] }])
      for (const ask of ["findMany", "count", "deleteMany"] as const)
        await expect(
          app.inHandler(
            async ({ driver }): Promise<unknown> =>
              ask === "findMany" ? driver.findMany("note", { where }) : driver[ask]("note", where),
          ),
        ).rejects.toThrow(/is encrypted; only \.encrypted\(\{ searchable: true \}\) can be compared/);
    const { value } = await app.inHandler(({ driver }) => driver.count("note", { title: "one", other: null }));
    expect(value).toBe(1);
  });

  it("are compared with null by their own column, since not every value has an index", async () => {
    const title = "migrating";
    const ids = [await newNote({ title, ssn: "m-1" }), await newNote({ title }), await newNote({ title })];
    await app.api.driver.update("note", { id: ids[1] as string }, { ssn: "m-2, in clear" });
    const migrating = createEnhancedDriver(app.api.driver, {
      entities: [note],
      encryption: { key: KEY, keyId: "k1", bind: true },
      allowPlaintext: true,
    });
    const found = async (ssn: unknown): Promise<unknown[]> => {
      const rows = await migrating.findMany(note, { where: { AND: [{ title }, { ssn }] }, select: ["ssn"] });
      expect(await migrating.count(note, { title, NOT: { ssn } })).toBe(3 - rows.length);
      return rows.map((row) => row.ssn).sort();
    };
    for (const isNull of [null, { null: true }, { eq: null }, { in: [null] }, [null], { null: true, eq: null }])
      expect(await found(isNull), JSON.stringify(isNull)).toEqual([null]);
    for (const isThere of [{ null: false }, { ne: null }, { nin: [null] }, { ne: null, null: false }])
      expect(await found(isThere), JSON.stringify(isThere)).toEqual(["m-1", "m-2, in clear"]);
    expect(await found(["m-1", null])).toEqual(["m-1", null]);
    expect(await found({ in: [null, "m-1", "m-3"] })).toEqual(["m-1", null]);
    expect(await found({ nin: ["m-1", null] })).toEqual(["m-2, in clear"]);
    expect(await found({ in: [] })).toEqual([]);
    // A plaintext value is not found, and so differs from everything.
    expect(await found("m-2, in clear")).toEqual([]);
    expect(await found({ ne: "m-2, in clear" })).toEqual(["m-1", "m-2, in clear", null]);
    expect(await migrating.deleteMany(note, { title, ssn: null })).toBe(1);
    expect(await app.api.driver.count("note", { id: { in: ids } })).toBe(2);
    await app.api.driver.deleteMany("note", { id: { in: ids } });
  });

  it.each([
    [{ ssn: undefined }, /"ssn" is undefined/],
    [{ ssn: { eq: undefined } }, /"ssn" is undefined/],
    [{ ssn: { in: [undefined] } }, /"ssn" cannot be compared/],
    [{ ssn: { like: "1" } }, /"ssn" does not take the operator "like"/],
    [{ ssn: {} }, /the condition on "ssn" is empty/],
    [{ ssn: { null: "x" } }, /"null" on "ssn" takes true or false/],
    [{ ssn: { in: "x" } }, /"in" on "ssn" takes an array/],
    [{ other: { gt: "1" } }, /"other" does not take the operator "gt"/],
  ])("are named in the refusal of invalid conditions: %j", async (where, message) => {
    await expect(app.inHandler(({ driver }) => driver.count("note", where))).rejects.toThrow(message);
  });

  it("that are unique have unique values, on create, on update and in bulk", async () => {
    const id = await newNote({ ssn: "unique 1" });
    const second = await newNote({ ssn: "unique 2" });
    for (const [method, path] of [
      ["POST", "/notes"],
      ["PATCH", `/notes/${second}`],
    ] as const) {
      const { status, body } = await send(method, path, { secret: "x", ssn: "unique 1" });
      expect([status, body]).toMatchObject([409, { code: "CONFLICT", errors: { ssn: "is already taken" } }]);
      expect(JSON.stringify(body)).not.toMatch(/unique 1|Bidx/);
    }
    const now = new Date();
    const row = { id: "bulk", title: "t", secret: "x", ssn: "unique 1", createdAt: now, updatedAt: now };
    for (const write of [
      (driver: Driver) => driver.createMany("note", [row]),
      (driver: Driver) => driver.updateMany("note", { id: { in: [id, second] } }, { ssn: "unique 3" }),
    ])
      await expect(app.inHandler(({ driver }) => write(driver))).rejects.toMatchObject({
        status: 409,
        fields: ["ssn"],
      });
    expect((await send("GET", `/notes/${id}`)).body).toMatchObject({ ssn: "unique 1" });
    expect((await send("POST", "/letters", { ssn: "unique 1" })).status).toBe(201);
    expect([await newNote({ ssn: null }), await newNote({})]).toHaveLength(2);
    expect((await send("PATCH", `/notes/${id}`, { ssn: "unique 1" })).status).toBe(200);
  });

  it("have unrelated blind indexes, which are not hashes of the value", async () => {
    const id = await newNote({ ssn: "123-45" });
    const { body } = await send("POST", "/letters", { ssn: "123-45" });
    const digests = [(await stored("note", id)).ssnBidx, (await stored("letter", (body as { id: string }).id)).ssnBidx];
    expect(new Set(digests).size).toBe(2);
    for (const digest of digests) {
      expect(digest).toMatch(/^[A-Za-z0-9_-]{43}$/);
      for (const data of ["123-45", `ssn123-45`]) {
        const bytes = await crypto.subtle.digest("SHA-256", Buffer.from(data));
        expect(digest).not.toBe(Buffer.from(bytes).toString("base64url"));
      }
    }
  });

  describe("ciphertexts moved by an attacker with write access to the table", () => {
    const failing = async (id: string): Promise<unknown> => {
      const { status, body } = await send("GET", `/notes/${id}`);
      return [status, (body as { code: string }).code];
    };

    it("to another record or field are an error, and not another caller's value", async () => {
      const [a, b] = [await newNote({ other: "other of a", ssn: "move a" }), await newNote({ ssn: "move b" })];
      const row = await stored("note", a);
      await app.api.driver.update("note", { id: b }, { secret: row.secret });
      expect(await failing(b)).toEqual([500, "DECRYPTION_FAILED"]);
      await app.api.driver.update("note", { id: b }, { secret: (await stored("note", b)).ssn });
      expect(await failing(b)).toEqual([500, "DECRYPTION_FAILED"]);
      await app.api.driver.update("note", { id: a }, { secret: row.other, other: row.secret });
      expect(await failing(a)).toEqual([500, "DECRYPTION_FAILED"]);
      await app.api.driver.deleteMany("note", { id: { in: [a, b] } });
    });

    it("fail only requests that show them, until they are written anew", async () => {
      const id = await newNote({ title: "broken" });
      for (const secret of ["in clear", "", "k1:", "k1:AAAA", "gone:".concat("A".repeat(60)), ":abc", "k1:k1:abc"]) {
        await app.api.driver.update("note", { id }, { secret });
        expect(await failing(id)).toEqual([500, "DECRYPTION_FAILED"]);
        expect((await send("GET", "/notes?title=broken")).status).toBe(500);
        expect((await send("GET", "/notes?title=broken&select=title")).status).toBe(200);
        expect(log.lines.at(-1)).not.toContain(secret === "" ? "\u0000" : `"${secret}"`);
      }
      expect(log.lines.filter((line) => line.includes("cannot be decrypted")).at(-1)).toContain(id);
      expect((await send("PATCH", `/notes/${id}`, { secret: "anew" })).body).toMatchObject({ secret: "anew" });
      expect((await send("GET", `/notes/${id}`)).body).toMatchObject({ secret: "anew" });
    });
  });

  it("of a key without binding may be moved, which is why binding exists", async () => {
    const loose = createHandlerApp({ entities: [note], encryption: { key: KEY } });
    const { id: a } = await loose.api.asSystem().note.create({ secret: "of a" });
    const { id: b } = await loose.api.asSystem().note.create({ secret: "of b" });
    await loose.api.driver.update(
      "note",
      { id: b },
      { secret: (await loose.api.driver.findOne("note", { id: a }))?.secret },
    );
    expect((await loose.api.asSystem().note.get(b)).secret).toBe("of a");
    await loose.close();
  });

  it("have no default that a driver stores in clear", async () => {
    const defaulted = entity("note", {
      secret: text.encrypted().default("the default"),
      password: string.password({ cost: 1 }).default("the default"),
    }).rules(everyone);
    const database = await open();
    const other = createHandlerApp({ entities: [defaulted], driver: database.driver, encryption: { key: KEY } });
    const made = await other.api.asSystem().note.create({});
    expect(made.secret).toBe("the default");
    const { value } = await other.inHandler(({ driver }) => driver.create("note", { id: "bare" }));
    expect(value).toMatchObject({ id: "bare", secret: "the default" });
    const now = new Date();
    const bare = { id: "base", createdAt: now, updatedAt: now };
    await expect(other.api.driver.create("note", bare)).rejects.toMatchObject({ code: "DATABASE_ERROR" });
    expect(JSON.stringify(await other.api.driver.findMany("note"))).not.toContain("the default");
    await other.close();
    await database.drop();
  });
});

describe("a value that cannot be decrypted", () => {
  const log = recordingLogger();
  const api = keelson({
    entities: [note],
    driver: memoryDriver({ note: [{ id: "n", title: "t", secret: "in clear", other: null }] }),
    logger: log,
    plugins: (defaults) =>
      defaults.replace("field-security", fieldSecurity({ encryption: { key: KEY }, onDecryptError: "null" })),
  });
  afterAll(() => api.close());

  it("reads as null if the app allows it, and is logged", async () => {
    expect(await api.asSystem().note.get("n")).toMatchObject({ title: "t", secret: null });
    expect((await api.as({ id: "u" }).note.list()).data).toMatchObject([{ id: "n", secret: null }]);
    const line =
      'error Stored values cannot be decrypted and read as null {"entity":"note","field":"secret","id":"n","reason":"malformed","values":1}';
    expect(log.lines).toContain(line);
    expect(log.lines.join()).not.toContain("in clear");
  });
});

describe("a rule's condition on an encrypted field", () => {
  it("gives the same result in the statement and on a record in memory", async () => {
    const born = datetime.encrypted({ searchable: true });
    const inThatYear = defineRule("inThatYear", () => ({ born: new Date(0) }));
    const person = entity("person", { born, name: string.default("n") }).rules({
      create: [inThatYear],
      read: [inThatYear],
      update: [inThatYear],
    });
    const { api, as, close } = createHandlerApp({ entities: [person], encryption: { key: KEY } });
    const made = await as(null).request("POST", "/api/people", { born: "1970-01-01T00:00:00Z" });
    expect(made).toMatchObject({ status: 201, body: { born: "1970-01-01T00:00:00.000Z" } });
    expect((await as(null).request("POST", "/api/people", { born: "1971-01-01T00:00:00Z" })).status).toBe(401);
    await api.asSystem().person.create({ born: new Date(1) });
    expect((await as(null).request("GET", "/api/people")).body).toHaveLength(1);
    await close();
  });
});
