import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { action, entity, type Keelson, keelson, memoryDriver, noopLogger, string, type User } from "../../src/index.ts";
import { attackedApp } from "../support/attacks/advisory.ts";
import { type AttackedApp, startAttackedApp } from "../support/attacks/attacked-app.ts";
import { doorsOf, PRIVATE } from "../support/attacks/private-objects.ts";
import { sendAs } from "../support/attacks/send-as.ts";
import { RAW_DATABASES, type RawDatabase } from "../support/protected/raw-database.ts";

// Cases that the matrices of this folder do not cover: one object written in several ways, references to others, and two
// requests for the same object.

const app = attackedApp();
const aLetter = { subject: "s", body: "b", seal: "s" };
const systemOf = (one: AttackedApp) =>
  one.api.asSystem() as unknown as Record<
    string,
    { create(data: object): Promise<{ id: string }>; update(id: string, data: object): Promise<unknown> }
  >;

describe("one object", () => {
  it("is identified by its id alone: not by a list, a wildcard or a condition", async () => {
    const ids = [
      "letter-ann,letter-bob",
      "letter-ann letter-bob",
      "*",
      "%25",
      "%5F",
      "letter-%25",
      "letter-ann*",
      "?",
      "-1",
    ];
    for (const id of ids)
      for (const { method, path, ...init } of doorsOf(PRIVATE.letter, encodeURIComponent(decodeURIComponent(id)))) {
        const { status } = await sendAs(app(), "ann", method, path, init);
        expect([400, 404, 405], `${method} ${path}`).toContain(status);
      }
  });

  it("is the record in the path, for any body", async () => {
    const before = await app().stored("letter");
    for (const method of ["PUT", "PATCH"]) {
      const body = { id: "letter-ann", subject: "taken over" };
      expect((await sendAs(app(), "bob", method, "/api/letters/letter-bob", { body })).status).toBe(400);
    }
    expect(await app().stored("letter")).toEqual(before);
  });

  it("has the same length for HEAD as for GET, as its caller sees it", async () => {
    const lengths = new Set<string | null>();
    for (const id of ["letter-ann", "letter-ann-gone"]) {
      const { status, headers, text } = await sendAs(app(), "bob", "HEAD", `/api/letters/${id}`);
      expect([403, 404]).toContain(status);
      expect([text, headers.get("etag"), headers.get("last-modified")]).toEqual(["", null, null]);
      lengths.add(headers.get("content-length"));
    }
    const { headers } = await sendAs(app(), "ann", "HEAD", "/api/letters/letter-ann");
    expect([...lengths]).not.toContain(headers.get("content-length"));
  });

  it("cannot have the name of an action as its id", async () => {
    for (const id of ["bulk", "export", "count", "import", "bulk-update"]) {
      const { status, json } = await sendAs(app(), "ann", "POST", "/api/letters", { body: { ...aLetter, id } });
      expect(status).toBe(201);
      expect(json.id).not.toBe(id);
    }
    expect((await sendAs(app(), "ann", "GET", "/api/letters/count")).json).toHaveProperty("count");
  });

  it("of an entity without routes gets the response of an unknown entity", async () => {
    const shapes = new Set<string>();
    for (const plural of ["workflow-steps", "idempotency-keys", "rate-limits", "no-such-things"])
      for (const path of [`/api/${plural}`, `/api/${plural}/x`, `/api/${plural}/count`]) {
        const { status, text } = await sendAs(app(), "root", "GET", path);
        shapes.add(`${status} ${text.replace(/"requestId":"[^"]*"/, "").replaceAll(path, "…")}`);
      }
    expect(shapes.size).toBe(1);
    expect([...shapes][0]).toMatch(/^404/);
  });
});

describe("references", () => {
  it("create no records: nested objects in a body store nothing", async () => {
    const before = (await app().stored("attachment")).length;
    const people = (await app().stored("person")).length;
    for (const nested of [
      { attachments: [{ name: "nested" }] },
      { attachments: { createMany: { data: [{ name: "nested" }] } } },
      { author: { create: { name: "nested" } } }, // which she may not create on its own either
      { author: { connectOrCreate: { where: { id: "x" }, create: { name: "nested" } } } },
      { attachmentsIds: ["attachment-bob"] },
    ]) {
      await sendAs(app(), "ann", "POST", "/api/letters", { body: { ...aLetter, ...nested } });
      await sendAs(app(), "ann", "PATCH", "/api/letters/letter-ann", { body: nested });
    }
    expect(await app().stored("attachment")).toHaveLength(before);
    expect(await app().stored("person")).toHaveLength(people);
    const [attached] = (await app().stored("attachment")).filter(({ id }) => id === "attachment-bob");
    expect(attached?.letterId).toBe("letter-bob");
  });

  it("are ids: any other value is refused", async () => {
    const wrong = [
      1,
      true,
      {},
      [],
      ["letter-ann"],
      { id: "letter-ann" },
      { not: "x" },
      "x".repeat(10_000),
      "a\u0000",
      "",
    ];
    for (const letterId of wrong)
      for (const [method, path, body] of [
        ["POST", "/api/attachments", { name: "x", letterId }],
        ["PATCH", "/api/attachments/attachment-ann", { letterId }],
        ["POST", "/api/attachments/bulk-update", { ids: ["attachment-ann"], data: { letterId } }],
      ] as const) {
        const { status, json } = await sendAs(app(), "ann", method, path, { body });
        expect([status, json.code], `${method} ${path} ${JSON.stringify(letterId)}`).toEqual([
          400,
          "VALIDATION_FAILED",
        ]);
      }
  });

  it("of a one-to-one relation are not taken away from their holder", async () => {
    const system = systemOf(app());
    await system.person?.create({
      ...{ id: "new", name: "new", password: "long enough", apiToken: "t", recovery: "r", ssn: "new-ssn" },
    });
    const taken = await sendAs(app(), "bob", "POST", "/api/badges", {
      body: { pin: "long enough", serial: 1, holderId: "ann" },
    });
    expect([taken.status, taken.json.code]).toEqual([409, "CONFLICT"]);
    expect(taken.text).not.toContain("badge-ann");
    const moved = await sendAs(app(), "bob", "PATCH", "/api/badges/badge-bob", { body: { holderId: "ann" } });
    expect(moved.status).toBe(409);
    const free = await sendAs(app(), "bob", "PATCH", "/api/badges/badge-bob", { body: { holderId: "new" } });
    expect(free.status).toBe(200);
  });

  it("that restrict a deletion are named, but not their owners", async () => {
    const { status, json, text } = await sendAs(app(), "root", "DELETE", "/api/people/ann");
    expect([status, json.code]).toEqual([409, "REFERENCED"]);
    for (const word of ["letter-ann", "note-ann", "attachment-ann", "SELECT", "constraint", "fkey"])
      expect(text).not.toContain(word);
    expect(app().canaries.leaksIn(text, null)).toEqual([]);
  });

  it("in a circle end", async () => {
    for (const bossId of ["ann", "bob"])
      expect((await sendAs(app(), "ann", "PATCH", "/api/people/ann", { body: { bossId } })).status).toBe(200);
    await systemOf(app()).person?.update("bob", { bossId: "ann" });
    const { status, json } = await sendAs(app(), "ann", "GET", "/api/people/ann?include=boss.boss.boss");
    expect([status, json.boss.boss.boss.id]).toEqual([200, "bob"]);
    expect(json.boss.boss.boss).not.toHaveProperty("boss");
    expect((await sendAs(app(), "ann", "GET", "/api/people?include=boss.boss.boss.boss")).status).toBe(400);
  });
});

describe("the caller", () => {
  const thing = entity("thing", { name: string })
    .rules({ read: ["admin"], create: ["admin"], update: ["admin"], delete: ["admin"] })
    .actions({
      look: action()
        .get()
        .handler(() => "looked"),
    });
  const start = (getUser: () => User | null): Keelson =>
    keelson({ entities: [thing], driver: memoryDriver(), logger: noopLogger, getUser }) as unknown as Keelson;
  const status = async (api: Keelson, path: string): Promise<number> =>
    (await api.fetch(new Request(`http://host.invalid${path}`))).status;

  it("is resolved for every request: a role that was removed no longer counts", async () => {
    let user: User | null = { id: "u", role: "admin" };
    const api = start(() => user);
    const paths = ["/api/things", "/api/things/look", "/api/things/x"];
    const statuses = async () => Promise.all(paths.map((path) => status(api, path)));
    expect(await statuses()).toEqual([200, 200, 404]);
    user = { id: "u", role: "user" };
    expect(await statuses()).toEqual([403, 403, 403]);
    user = null;
    expect(await statuses()).toEqual([401, 401, 401]);
    await api.close();
  });

  it("is not an administrator through a value that resembles a role", async () => {
    const users: readonly Record<string, unknown>[] = [
      { role: ["admin"] },
      { role: { toString: () => "admin" } },
      { role: "Admin" },
      { role: "admin " },
      { role: "administrator" },
      { roles: "admin" },
      { roles: "superadmin" },
      { roles: { 0: "admin", length: 1 } },
      { roles: [["admin"]] },
      { isAdmin: "true" },
      { isAdmin: 1 },
      { isAdmin: {} },
    ];
    for (const user of users) {
      const api = start(() => Object.assign(user, { id: "u" }) as User);
      expect(await status(api, "/api/things"), JSON.stringify(user)).toBe(403);
      await api.close();
    }
  });
});

describe("two requests for the same object, on PostgreSQL", () => {
  let database: RawDatabase;
  let onPostgres: AttackedApp;
  beforeAll(async () => {
    const [, open] = RAW_DATABASES.find(([name]) => name === "PostgreSQL") ?? expect.fail("PostgreSQL");
    database = await open();
    const rows = (name: string) => database.query(`SELECT * FROM "${name}" ORDER BY "id"`);
    onPostgres = await startAttackedApp({ driver: database.driver(), rows });
  });
  afterAll(async () => {
    await onPostgres?.close();
    await database?.drop();
  });

  it("do not change a record that another caller has received in the meantime", async () => {
    const system = systemOf(onPostgres);
    for (let round = 0; round < 12; round++) {
      const { json } = await sendAs(onPostgres, "ann", "POST", "/api/letters", { body: aLetter });
      const transfer = system.letter?.update(json.id, { authorId: "bob", subject: "bob's" });
      const path = `/api/letters/${json.id}`;
      const [, changed] = await Promise.all([
        transfer,
        sendAs(onPostgres, "ann", "PATCH", path, { body: { subject: "ann's", pinned: true } }),
      ]);
      const [row] = await database.query(`SELECT * FROM "letter" WHERE "id" = '${json.id}'`);
      expect([200, 403]).toContain(changed.status);
      // In either order, ann's text must not overwrite the record after it became bob's.
      expect([row?.authorId, row?.subject, row?.pinned]).toEqual(["bob", "bob's", changed.status === 200]);
    }
  });

  it("leave nothing changed by a bulk request that meets a conflict", async () => {
    const made: string[] = [];
    for (const name of ["one", "two", "three"]) {
      const body = { email: `${name}@bulk.example`, password: "long enough" };
      made.push((await sendAs(onPostgres, "ann", "POST", "/api/accounts", { body })).json.id);
    }
    const before = await onPostgres.stored("account");
    for (const [method, path] of [
      ["PUT", "/api/accounts/bulk"],
      ["POST", "/api/accounts/bulk-update"],
    ] as const) {
      const body = { ids: made, data: { email: "same@bulk.example", name: "changed" } };
      const { status, text } = await sendAs(onPostgres, "ann", method, path, { body });
      expect(status).toBe(409);
      expect(text).not.toContain("bulk.example");
      expect(await onPostgres.stored("account")).toEqual(before);
    }
  });
});
