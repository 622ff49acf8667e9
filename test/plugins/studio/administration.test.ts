import { belongsTo, embedded, entity, keelson, memoryDriver, noopLogger, string, text } from "keelson";
import { audit } from "keelson/audit";
import { idempotency } from "keelson/idempotency";
import { type StudioOptions, studio } from "keelson/studio";
import { describe, expect, it, onTestFinished } from "vitest";
import { freshSqliteFile } from "../../support/databases.ts";

const KEYS = { v1: "5a".repeat(32), v2: "6b".repeat(32) };
/** More than two requests rotate. */
const MANY = 450;

const note = entity("note", { title: string, secret: text.encrypted(), extra: text.encrypted().optional() }).rules({
  read: ["everyone"],
});

const getUser = ({ headers }: { readonly headers: { get(name: string): string | null } }) => {
  const id = headers.get("authorization")?.replace("Bearer ", "") ?? undefined;
  return id === undefined ? null : { id, role: id === "root" ? "admin" : "clerk" };
};

type Api = { fetch(request: Request): Promise<Response> };

function sender(api: Api) {
  return async (method: string, path: string, token?: string, body?: unknown) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await api.fetch(new Request(`http://localhost${path}`, init));
    const said = await response.text();
    return { status: response.status, text: said, json: said === "" ? undefined : JSON.parse(said) };
  };
}

/** Notes whose values have the key v1, in an app whose first key is v2. */
async function withOldValues(options: StudioOptions = {}, { production = false, records = 2 } = {}) {
  const { file, remove } = await freshSqliteFile();
  onTestFinished(() => remove());
  const before = keelson({
    entities: [note],
    driver: embedded({ file }),
    logger: noopLogger,
    encryption: { key: KEYS.v1, keyId: "v1" },
    plugins: [audit()],
  });
  await before.ready;
  for (let at = 0; at < records; at++)
    await before
      .asSystem()
      .note.create({ title: `${at}`, secret: `canary ${at}`, ...(at % 2 ? { extra: "canary" } : {}) });
  await before.close();
  const api = keelson({
    entities: [note],
    driver: embedded({ file }),
    logger: noopLogger,
    production,
    encryption: { key: KEYS.v2, keyId: "v2", keys: [{ key: KEYS.v1, keyId: "v1" }] },
    plugins: [audit({ read: ["admin"] }), studio(options)],
    getUser,
  });
  onTestFinished(() => api.close());
  await api.ready;
  return { api, send: sender(api) };
}

describe("encryption keys in the studio", () => {
  it("are counted in batches of records, without keys and values", async () => {
    const { send } = await withOldValues();
    const { json, text: said } = await send("GET", "/studio/keys", "root");
    expect(json).toEqual({
      ids: ["v2", "v1"],
      usages: [
        { entity: "note", field: "secret", keyId: "v1", values: 2 },
        { entity: "note", field: "extra", keyId: "v1", values: 1 },
      ],
    });
    expect(said).not.toMatch(/canary|5a5a|6b6b/);
    for (const query of ["?_after=x", "?_after=e30", "?after=1"])
      expect((await send("GET", `/studio/keys${query}`, "root")).status).toBe(400);
    const position = { entity: "note", after: null, finished: [] };
    const cursor = Buffer.from(JSON.stringify(position)).toString("base64url");
    expect((await send("GET", `/studio/keys?_after=${cursor}`, "root")).json.usages).toEqual(json.usages);
  });

  it("are rotated in batches of records, with the progress in each response", async () => {
    const { api, send } = await withOldValues({}, { records: MANY });
    const steps = [];
    let progress: { complete?: boolean } = {};
    while (progress.complete !== true) {
      const { status, json } = await send("POST", "/studio/keys/rotate", "root", progress);
      expect(status).toBe(200);
      steps.push([json.records, json.total, json.complete]);
      progress = json;
    }
    expect(steps).toEqual([
      [200, MANY, false],
      [400, MANY, false],
      [MANY, MANY, false],
      [MANY, MANY, true],
    ]);
    expect(progress).toMatchObject({ keyId: "v2", reEncrypted: MANY * 1.5, failed: 0 });
    const { usages } = (await send("GET", "/studio/keys", "root")).json;
    expect(usages.map(({ keyId }: { keyId: string }) => keyId)).toEqual(["v2", "v2"]);
    expect((await api.asSystem().note.list({ where: { title: "1" } })).data).toMatchObject([
      { secret: "canary 1", extra: "canary" },
    ]);
    const log = (await send("GET", "/api/audit-entries?operation=rotate", "root")).json;
    const entry = { actorId: "root", entity: "encryptionKey", recordId: "v2" };
    expect(log).toMatchObject(steps.map(() => entry));
  });

  it("are not rotated with forged progress", async () => {
    const { send } = await withOldValues();
    const begun = (await send("POST", "/studio/keys/rotate", "root", {})).json;
    for (const wrong of [[], "x", 7, { keyId: "v2" }, { ...begun, records: -1 }, { ...begun, finished: [1] }])
      expect([wrong, (await send("POST", "/studio/keys/rotate", "root", wrong)).status]).toEqual([wrong, 400]);
  });

  it("are for administrators only, and disabled in production without rules", async () => {
    const { send } = await withOldValues({ rules: ["authenticated"] });
    for (const [method, path] of [
      ["GET", "/studio/keys"],
      ["POST", "/studio/keys/rotate"],
    ] as const) {
      expect((await send(method, path)).status).toBe(401);
      expect((await send(method, path, "ann")).status).toBe(403);
    }
    const closed = await withOldValues({}, { production: true });
    expect((await closed.send("GET", "/studio/keys", "root")).status).toBe(404);
    const named = await withOldValues({ rules: ["admin"] }, { production: true });
    expect((await named.send("GET", "/studio/keys", "root")).status).toBe(200);
    expect((await named.send("GET", "/studio/keys", "ann")).status).toBe(403);
  });

  it("are rotated once for a key, and only administrators see the response again", async () => {
    let role = "admin";
    const api = keelson({
      entities: [note],
      driver: memoryDriver(),
      logger: noopLogger,
      encryption: { key: KEYS.v1 },
      plugins: [idempotency({ encrypted: true }), studio({ rules: ["authenticated"] })],
      getUser: () => ({ id: "ann", role }),
    });
    onTestFinished(() => api.close());
    await api.ready;
    const headers = { "content-type": "application/json", "idempotency-key": "k" };
    const rotate = { method: "POST", headers, body: "{}" };
    const ask = () => api.fetch(new Request("http://localhost/studio/keys/rotate", rotate));
    expect([(await ask()).status, (await ask()).headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    role = "clerk";
    expect((await ask()).status).toBe(403);
  });

  it("are documented for administrators", async () => {
    const { send } = await withOldValues({ rules: ["authenticated"] });
    const paths = async (token?: string) => Object.keys((await send("GET", "/openapi.json", token)).json.paths);
    expect(await paths("root")).toEqual(expect.arrayContaining(["/studio/keys", "/studio/keys/rotate"]));
    for (const token of [undefined, "ann"])
      expect((await paths(token)).filter((path) => path.startsWith("/studio"))).toEqual([]);
  });
});

describe("remote services in the studio", () => {
  it("are shown with the state of their breaker, to administrators", async () => {
    const plan = entity("plan", { title: string })
      .timestamps(false)
      .rules({ read: ["everyone"] });
    const customer = entity("customer", {
      name: string,
      plan: belongsTo(() => plan)
        .remote("billing")
        .optional(),
    }).rules({ read: ["everyone"] });
    const api = keelson({
      entities: [customer],
      driver: memoryDriver({ customer: [{ id: "c1", name: "Cleo", planId: "gold" }] }),
      logger: noopLogger,
      services: { billing: () => ({ fetchByIds: () => Promise.reject(new Error("canary")) }) },
      plugins: [studio()],
      remoteJoins: { cache: false, breaker: { failures: 2, resetAfter: 60_000 } },
      getUser,
    });
    onTestFinished(() => api.close());
    const send = sender(api);
    expect((await send("GET", "/studio/services", "root")).json).toEqual([{ name: "billing", state: "closed" }]);
    for (let times = 0; times < 2; times++) await send("GET", "/api/customers/c1?include=plan");
    expect((await send("GET", "/studio/services", "root")).json).toEqual([{ name: "billing", state: "open" }]);
    expect((await send("GET", "/studio/services", "ann")).status).toBe(403);
    expect((await send("GET", "/studio/services")).status).toBe(401);
    expect((await send("GET", "/studio/keys", "root")).status).toBe(404);
  });
});
