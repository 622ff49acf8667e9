import type { IncomingMessage } from "node:http";
import {
  type AppEncryption,
  clearEncryptionKeys,
  createEnhancedDriver,
  type Driver,
  type EntityLike,
  encryptValue,
  entity,
  generateEncryptionKey,
  initEncryption,
  type Keelson,
  keelson,
  memoryDriver,
  noopLogger,
  type Plugin,
  type Row,
  string,
  text,
  UnavailableError,
  type User,
  verifyPassword,
} from "keelson";
import { serve } from "keelson/node";
import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createPasswordHasher } from "../../src/plugins/field-security/index.ts";
import { connectDriver } from "../support/connect-driver.ts";
import { request, startApp } from "../support/http.ts";
import { openPage } from "../support/page.ts";

const passwords = openPage("guides/passwords");
const encryption = openPage("guides/encryption");
const fieldRules = openPage("guides/field-rules");
const guides = [passwords, encryption, fieldRules];
afterAll(() => {
  for (const guide of guides) guide.remove();
});
afterEach(() => clearEncryptionKeys());

const OLD = generateEncryptionKey();
const NEW = generateEncryptionKey();
const ann: User = { id: "ann" };
const bob: User = { id: "bob" };

describe("docs/guides/passwords.md", () => {
  it("has an entity whose passwords are hashed and in no response", async () => {
    const { api } = await passwords.load<{ api: Keelson<[]> }>('id: "guest"');
    onTestFinished(() => api.close());
    const people = api.as(bob) as Record<string, { list(): Promise<{ data: Row[] }> }>;
    const { data } = (await people.person?.list()) ?? { data: [] };
    expect(data.map((person) => Object.keys(person).sort())).toEqual([["createdAt", "id", "updatedAt"]]);
    const [stored] = await api.driver.findMany("person");
    expect(stored?.password).toMatch(/^\$pbkdf2\$256000\$/);
    expect(await verifyPassword("correct horse", stored?.password as string)).toBe(true);
  });

  it("lists the number of iterations of each cost", () => {
    const rows = [...passwords.text.matchAll(/^\| (\d+) \| ([\d,]+) \|/gm)];
    expect(rows).toHaveLength(4);
    for (const [, cost, iterations] of rows)
      expect(Number(iterations?.replaceAll(",", ""))).toBe(1000 * 2 ** Number(cost));
  });

  it("has a login that does not reveal which users exist, and renews old hashes", async () => {
    interface Block {
      readonly person: EntityLike;
      login(sign: (claims: { readonly sub: string }) => Promise<string>): Plugin;
    }
    const { person, login } = await passwords.load<Block>("// login.ts");
    const plugins = [login(async ({ sub }) => `token of ${sub}`)];
    const api = keelson({ entities: [person], driver: memoryDriver(), logger: noopLogger, plugins });
    const { url, close } = await startApp(api);
    onTestFinished(close);
    const password = "correct horse";
    await request(url, "POST", "/api/people", { body: { email: "Ann@shop.example", password } });
    const [stored] = await api.driver.findMany("person");
    const logIn = (email: string, given: string) =>
      request(url, "POST", "/login", { body: { email, password: given } });

    const old = await createPasswordHasher().hash(password, { cost: 1 });
    await api.driver.update("person", { id: stored?.id }, { password: old });
    expect((await logIn("ann@shop.example", password)).json).toEqual({ token: `token of ${stored?.id}` });
    const [now] = await api.driver.findMany("person");
    expect(now?.password).toMatch(/^\$pbkdf2\$256000\$/);
    expect((await logIn("ann@shop.example", password)).status).toBe(200);

    const refusals = [await logIn("ann@shop.example", "guess"), await logIn("nobody@shop.example", password)];
    for (const { status, json } of refusals)
      expect([status, json.code, json.message]).toEqual([401, "UNAUTHENTICATED", "E-mail or password is wrong"]);
  });

  it("has an app that refuses more passwords than its queue holds", async () => {
    const { api } = await passwords.load<{ api: Keelson<[]> }>("queue: 10");
    onTestFinished(() => api.close());
    const { person } = api.asSystem() as unknown as Record<"person", { create(data: Row): Promise<Row> }>;
    const results = await Promise.allSettled(
      Array.from({ length: 13 }, (_, i) => person.create({ name: `p${i}`, password: "correct horse" })),
    );
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(refused).toHaveLength(2);
    for (const reason of refused) expect(reason).toBeInstanceOf(UnavailableError);
  });

  it("verifies passwords that are not stored in a field", async () => {
    const { check } = await passwords.load<{
      check(password: string, stored: string | undefined): Promise<string>;
    }>("hashPassword");
    const fresh = await check("secret", await createPasswordHasher().hash("secret", { cost: 1 }));
    expect(fresh).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$/);
    expect(await check("secret", fresh)).toBe("right");
    expect(await check("guess", fresh)).toBe("wrong");
    expect(await check("secret", undefined)).toBe("wrong");
  });
});

describe("docs/guides/encryption.md", () => {
  it("has an app that stores ciphertext, bound to its place, and finds equal values", async () => {
    const { createApi } = await encryption.load<{ createApi(key: string): Keelson<[]> }>("diagnosis");
    const api = createApi(OLD);
    onTestFinished(() => api.close());
    await api.ready;
    const { patient } = api.as(ann) as unknown as Record<"patient", PatientClient>;
    const { id } = await patient.create({ name: "Ann", diagnosis: "hay fever", ssn: "123" });
    const { id: other } = await patient.create({ name: "Bob", diagnosis: "none", ssn: "456" });
    expect((await patient.list({ where: { ssn: "123" } })).data).toMatchObject([{ id, ssn: "123" }]);
    await expect(patient.create({ name: "Twin", diagnosis: "none", ssn: "123" })).rejects.toMatchObject({
      code: "CONFLICT",
      fields: ["ssn"],
    });

    const rows = new Map((await api.driver.findMany("patient")).map((row) => [row.id, row]));
    expect(rows.get(id)?.diagnosis).toMatch(/^v1:[A-Za-z0-9+/]+=*$/);
    await api.driver.update("patient", { id: other }, { diagnosis: rows.get(id)?.diagnosis });
    await expect(patient.list({ where: { ssn: "456" } })).rejects.toMatchObject({ code: "DECRYPTION_FAILED" });
  });

  it("has an app whose unreadable values are null", async () => {
    const { createApi } = await encryption.load<{ createApi(key: string): Keelson<[]> }>("onDecryptError");
    const api = createApi(OLD);
    onTestFinished(() => api.close());
    await api.ready;
    const now = new Date();
    await api.driver.create("note", { id: "n", secret: "in clear", createdAt: now, updatedAt: now });
    const { note } = api.as(ann) as unknown as Record<"note", { get(id: string): Promise<Row> }>;
    expect((await note.get("n")).secret).toBeNull();
  });

  const person = entity("person", { ssn: string.encrypted({ searchable: true }) }).timestamps(false);
  const note = entity("note", { secret: text.encrypted() }).timestamps(false);

  it("changes an environment's key step by step, and everything stays readable", async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    const driver = memoryDriver();
    const steps: [string, string][] = [
      [OLD, "v1"],
      [`v1:${OLD},2026:${NEW}`, "v1"],
      [`2026:${NEW},v1:${OLD}`, "2026"],
    ];
    for (const [step, [variable, writesWith]] of steps.entries()) {
      vi.stubEnv("KEELSON_ENCRYPTION_KEY", variable);
      const app = keelson({ entities: [note], driver, logger: noopLogger });
      await app.asSystem().note.create({ id: `n${step}`, secret: `secret ${step}` });
      expect((await app.asSystem().note.list()).data).toHaveLength(step + 1);
      expect((await driver.findOne("note", { id: `n${step}` }))?.secret).toMatch(new RegExp(`^${writesWith}:`));
      await app.close();
    }
    await connectDriver(driver, [note]);
    const { rotate } = await encryption.load<Rotation>("// rotate.ts");
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    onTestFinished(() => void vi.restoreAllMocks());
    const keys = { key: NEW, keyId: "2026", keys: [{ key: OLD, keyId: "v1" }] };
    expect(await rotate(driver, [note], keys)).toEqual({ failed: 0, canRemoveOldKey: true });

    vi.stubEnv("KEELSON_ENCRYPTION_KEY", `2026:${NEW}`);
    const app = keelson({ entities: [note], driver, logger: noopLogger });
    const { data } = await app.asSystem().note.list();
    expect(data.map(({ secret }) => secret)).toEqual(["secret 0", "secret 1", "secret 2"]);
  });

  it("has a job that keeps values searchable, and binds them", async () => {
    const driver = memoryDriver();
    await connectDriver(driver, [person]);
    await createEnhancedDriver(driver, { entities: [person], encryption: { key: OLD } }).create(person, {
      id: "ann",
      ssn: "123",
    });
    const { rotate, encryption: keysOf } = await encryption.load<Rotation>("// rotate.ts");
    const keys = keysOf({ NEW_KEY: NEW, OLD_KEY: OLD });
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await rotate(driver, [person], keys)).toEqual({ failed: 0, canRemoveOldKey: true });

    const after = createEnhancedDriver(driver, { entities: [person], encryption: { ...keys, keys: [] } });
    expect(await after.findMany(person, { where: { ssn: "123" } })).toMatchObject([{ id: "ann", ssn: "123" }]);
    const [row] = await driver.findMany(person.build());
    await driver.create(person.build(), { ...row, id: "eve", ssnBidx: "another" });
    await expect(after.findOne(person, { id: "eve" })).rejects.toMatchObject({ reason: "refused" });
  });

  it("rotates by hand", async () => {
    type Stored = { readonly id: string; readonly secret: string };
    const { rotate } = await encryption.load<{
      rotate(rows: readonly Stored[], keys: readonly [string, string], store: (row: Stored) => Promise<void>): unknown;
    }>("removeEncryptionKey(");
    initEncryption({ key: OLD, keyId: "v1" });
    const rows = [1, 2].map((i) => ({ id: `n${i}`, secret: encryptValue(`secret ${i}`) }));
    const stored: Stored[] = [];
    await rotate(rows, [OLD, NEW], async (row) => void stored.push(row));
    expect(stored.map(({ id, secret }) => [id, secret.slice(0, 3)])).toEqual([
      ["n1", "v2:"],
      ["n2", "v2:"],
    ]);
  });

  it("has a round trip that keeps types", async () => {
    const { roundTrip } = await encryption.load<{ roundTrip(key: string): unknown }>("roundTrip");
    expect(roundTrip(OLD)).toEqual({ isEncrypted: true, value: { iban: "DE02 1203 0000 0000 2020 51" } });
  });

  interface PatientClient {
    create(data: Row): Promise<{ readonly id: string }>;
    list(options: { readonly where: Row }): Promise<{ readonly data: Row[] }>;
  }
  interface Rotation {
    encryption(env: Readonly<Record<string, string>>): AppEncryption;
    rotate(driver: Driver, entities: readonly EntityLike[], keys: AppEncryption): Promise<unknown>;
  }
});

describe("docs/guides/field-rules.md", () => {
  it("has an app that shows and accepts fields by their rules", async () => {
    const { api } = await fieldRules.load<{ api: Keelson<[]> }>("sameTeam");
    const callers: Readonly<Record<string, User>> = {
      ann: { id: "ann", team: "red" },
      bob: { id: "bob", team: "red" },
      cid: { id: "cid", team: "blue" },
      root: { id: "root", role: "admin" },
    };
    const getUser = (raw: IncomingMessage) => callers[String(raw.headers["x-caller"])] ?? null;
    const { url, close } = await serve(api, { port: 0, hostname: "127.0.0.1", signals: false, getUser });
    onTestFinished(close);
    const ask = (caller: string, method: string, path: string, body?: unknown) =>
      request(url, method, path, { headers: { "x-caller": caller }, body });
    const system = api.asSystem() as unknown as Record<"person" | "report", { create(data: Row): Promise<Row> }>;
    for (const [id, team] of Object.entries({ ann: "red", cid: "blue" }))
      await system.person.create({ id, team, name: id, salary: 5000, phone: `555-${id}`, apiToken: "t" });
    await system.report.create({ id: "r", title: "Q1", draft: "rough", authorId: "ann" });

    const shown = async (caller: string, id: string) =>
      Object.keys((await ask(caller, "GET", `/api/people/${id}`)).json).filter((name) =>
        ["salary", "phone", "apiToken"].includes(name),
      );
    expect(await shown("ann", "ann")).toEqual(["salary", "phone"]);
    expect(await shown("bob", "ann")).toEqual(["phone"]);
    expect(await shown("cid", "ann")).toEqual([]);
    expect(await shown("root", "ann")).toEqual(["salary"]);
    expect(await shown("nobody", "ann")).toEqual([]);
    const listed = (await ask("cid", "GET", "/api/people?_sort=id")).json as Row[];
    expect(listed.map((person) => "phone" in person)).toEqual([false, true]);
    const [included] = (await ask("ann", "GET", "/api/reports?include=author")).json;
    expect([included.draft, included.author.salary]).toEqual(["rough", 5000]);
    expect((await ask("bob", "GET", "/api/reports/r")).json).not.toHaveProperty("draft");

    const found = async (caller: string) =>
      ((await ask(caller, "GET", "/api/people?salary_gte=5000&_sort=id")).json as Row[]).map(({ id }) => id);
    expect(await found("ann")).toEqual(["ann"]);
    expect(await found("bob")).toEqual([]);
    expect(await found("root")).toEqual(["ann", "cid"]);
    const refused = await ask("ann", "GET", "/api/people?apiToken=t");
    expect([refused.status, refused.json.message]).toEqual([
      400,
      (await ask("ann", "GET", "/api/people?apiTokem=t")).json.message.replace("apiTokem", "apiToken"),
    ]);
    expect((await ask("ann", "GET", "/api/people?_sort=salary")).status).toBe(400);

    const { status, headers, json } = await ask("ann", "PATCH", "/api/people/ann", {
      name: "Ann",
      team: "x",
      salary: 1,
    });
    expect([status, headers.get("x-ignored-fields"), json.name, json.team, json.salary]).toEqual([
      200,
      "team, salary",
      "Ann",
      "red",
      5000,
    ]);
  });

  it("has filters that apply the rules to data from other sources", async () => {
    const { forAnn, forBob, changes } = await fieldRules.load<Record<string, unknown>>("filterWritableFields(");
    expect(forAnn).toEqual({ id: "ann", name: "Ann", salary: 5000 });
    expect(forBob).toEqual({ id: "ann", name: "Ann" });
    expect(changes).toEqual({ name: "Ann L." });
  });

  it("has a driver that applies them around another one", async () => {
    const { seen, changed } = await fieldRules.load<Record<"seen" | "changed", Row>>("createEnhancedDriver");
    expect(Object.keys(seen).sort()).toEqual(["createdAt", "id", "name", "updatedAt"]);
    expect(changed).toMatchObject({ id: "ann", name: "Ann L." });
    expect(changed).not.toHaveProperty("salary");
  });
});
