import { afterEach, describe, expect, it } from "vitest";
import {
  AuthenticationError,
  createPlugin,
  type EntityRulesInput,
  endpoint,
  entity,
  type Keelson,
  type KeelsonConfig,
  keelson,
  memoryDriver,
  noopLogger,
  type Row,
  string,
} from "../../../src/index.ts";
import { jwtAuth } from "../../../src/plugins/jwt-auth/index.ts";
import { type Asked, advisory, attackedApp } from "../../support/attacks/advisory.ts";
import { sendAs } from "../../support/attacks/send-as.ts";

// Advisories of other systems about access: relations, side doors, bulk, mass assignment, other users' objects, and
// defaults that fail open. Each exploit is rebuilt in Keelson's syntax.

const app = attackedApp();
const get = (path: string, as: Asked[0] = "anonymous"): Asked => [as, "GET", path];
const SECRET_FIELDS = ["password", "apiToken", "recovery", "adminNote", "adminSecret", "nobodysNote"];

describe("relations", () => {
  describe("GHSA-f6fm-r26q-p747 (CVE-2022-30617) an included author has an address and a reset token", () => {
    it.each(["anonymous", "ann"] as const)(
      "does not happen: %s sees the permitted fields of an author",
      async (caller) => {
        for (const path of ["/api/notes?include=author,viewers", "/api/notes/note-bob?include=author.boss"]) {
          const { status, text } = await sendAs(app(), caller, "GET", path);
          expect(status).toBe(200);
          for (const name of SECRET_FIELDS) expect(text, `${path} ${name}`).not.toContain(`"${name}"`);
          expect(app().canaries.leaksIn(text, caller)).toEqual([]);
        }
      },
    );

    it("does not affect legitimate requests", async () => {
      const { json } = await sendAs(app(), "anonymous", "GET", "/api/notes/note-bob?include=author");
      expect(json.author).toMatchObject({ id: "bob", department: "hr" });
    });
  });

  advisory("GHSA-m284-85mf-cgrc the field that names a relation is shown, though it is private there", app, {
    exploits: [
      get("/api/people?include=badge.serial"),
      get("/api/people?select=badge.serial"),
      get("/api/people?_sort=badge.serial"),
      get("/api/people?badge.serial=1"),
      get("/api/people?badge.serial_gte=0", "ann"),
      get("/api/people?vaults.label_like=c", "bob"),
    ],
    neighbours: [get("/api/people?include=badge"), get("/api/people?badge.serial_gte=0", "root")],
  });

  describe("GHSA-wmwx-jr2p-4j4r a filter through a hidden record reveals its members", () => {
    it("does not happen: a relation leads only to readable records", async () => {
      for (const [caller, path] of [
        ["bob", "/api/attachments?letter.id=letter-ann"],
        ["bob", "/api/attachments?letter.pinned=false&letterId=letter-ann"],
        ["root", "/api/attachments?letter.id_in=letter-ann,letter-bob"],
      ] as const)
        expect((await sendAs(app(), caller, "GET", path)).json, path).toEqual([]);
      for (const path of ["/api/people?vaults.id=vault-ann", "/api/people?$relatedTo[key]=vaults"])
        expect((await sendAs(app(), "ann", "GET", path)).status, path).toBe(400);
    });

    it("does not affect legitimate requests", async () => {
      const own = await sendAs(app(), "bob", "GET", "/api/attachments?letter.id=letter-bob");
      expect(own.json).toMatchObject([{ id: "attachment-bob" }]);
      const all = await sendAs(app(), "root", "GET", "/api/people?vaults.id=vault-ann");
      expect(all.json).toMatchObject([{ id: "ann" }]);
    });
  });
});

describe("side doors", () => {
  describe("GHSA-37mj-c2wf-cx96 the route to the caller's own account reads it with full rights", () => {
    it("does not happen: the caller's own record is masked like any other", async () => {
      for (const path of [
        "/api/people/ann",
        "/api/people?id=ann",
        "/raw/find",
        "/raw/nested",
        "/api/letters/letter-ann/report",
      ]) {
        const { status, text } = await sendAs(app(), "ann", "GET", path);
        expect(status, path).toBe(200);
        for (const name of SECRET_FIELDS) expect(text, `${path} ${name}`).not.toContain(`"${name}"`);
      }
    });

    it("does not affect legitimate requests", async () => {
      const { json } = await sendAs(app(), "ann", "GET", "/api/people/ann");
      expect(Object.keys(json)).toEqual(expect.arrayContaining(["id", "name", "ownNote", "salary"]));
    });
  });

  describe("GHSA-hwx8-q9cg-mqmc metadata of a record skips the hooks that guard it", () => {
    it("does not happen: counts, existence, headers and documents obey the rules", async () => {
      for (const path of ["/api/vaults/count", "/api/vaults/vault-ann/exists", "/api/vaults/export", "/api/vaults"])
        for (const method of ["GET", "HEAD"])
          expect((await sendAs(app(), "ann", method, path)).status, `${method} ${path}`).toBe(403);
      const { text } = await sendAs(app(), "ann", "GET", "/openapi.json");
      for (const word of ["vaults/count", "ssnBidx", "apiToken_like", "adminNote_like", "/unruled", "every-vault"])
        expect(text, word).not.toContain(word);
    });

    it("does not affect legitimate requests", async () => {
      expect((await sendAs(app(), "root", "GET", "/api/vaults/count")).json).toEqual({ count: 3 });
      const { text } = await sendAs(app(), "root", "GET", "/openapi.json");
      for (const word of ["/api/vaults/count", "adminNote_like", "every-vault"]) expect(text).toContain(word);
    });
  });

  describe("CVE-2026-39381 the route to the caller's own session returns the token", () => {
    it("does not happen: the response names the caller, without the credentials", async () => {
      const { text, json, headers } = await sendAs(app(), "root", "GET", "/who");
      expect(json).toMatchObject({ kind: "user", user: { id: "root", role: "admin" } });
      const [, payload = "", signature = ""] = app().tokens.root?.split(".") ?? [];
      for (const part of [payload, signature]) expect(`${text} ${[...headers]}`).not.toContain(part);
    });
  });

  advisory("GHSA-65w6-pf7x-5g85 endpoints of a plugin run with all rights", app, {
    exploits: [
      ...(["anonymous", "ann", "root"] as const).map((as) => get("/unruled", as)),
      get("/every-vault"),
      get("/every-vault", "ann"),
      get("/mine"),
      get("/unruled?overrideAccess=true", "root"),
    ],
    neighbours: [get("/every-vault", "root"), get("/mine", "ann")],
  });
});

describe("CVE-2026-53469 a delete without a condition", () => {
  const nothing = [undefined, {}, { ids: [] }, { ids: null }, { ids: "*" }, { where: {} }, { data: {} }, []];

  it("deletes nothing", async () => {
    for (const path of ["/api/letters", "/api/drawers"])
      for (const body of nothing)
        for (const [method, door] of [
          ["DELETE", ""],
          ["DELETE", "/"],
          ["DELETE", "/bulk"],
          ["POST", "/bulk-delete"],
          ["PUT", "/bulk"],
          ["POST", "/bulk-update"],
        ] as const) {
          const { status } = await sendAs(app(), "ann", method, path + door, { body });
          expect([400, 405], `${method} ${path}${door} ${JSON.stringify(body)}`).toContain(status);
        }
    expect(await app().stored("letter")).toHaveLength(6);
    expect(await app().stored("drawer")).toHaveLength(6);
  });

  it("does not affect legitimate requests", async () => {
    const made = await sendAs(app(), "ann", "POST", "/api/letters", { body: { subject: "s", body: "b", seal: "s" } });
    const { json } = await sendAs(app(), "ann", "DELETE", "/api/letters/bulk", { body: { ids: [made.json.id] } });
    expect(json).toEqual({ count: 1 });
  });
});

describe("mass assignment", () => {
  const account = async (id: string): Promise<Row | undefined> =>
    (await app().stored("account")).find((row) => row.id === id);
  const untouched = { role: "user", credit: 0, verified: false, token: null, version: 1 };
  let count = 0;
  const signUp = (more: object) => ({ email: `new${++count}@host.example`, password: "long enough", ...more });

  describe("GHSA-gc7p-j5xm-xxh2 private fields are set at registration", () => {
    it("does not happen: they keep their defaults, and the response lists ignored fields", async () => {
      const sent = signUp({ role: "admin", credit: 9, verified: true, version: 9, id: "mine" });
      const { status, json, headers } = await sendAs(app(), "anonymous", "POST", "/api/accounts", { body: sent });
      expect(status).toBe(201);
      expect(headers.get("x-ignored-fields")?.split(", ")).toEqual(expect.arrayContaining(["role", "credit"]));
      expect(await account(json.id)).toMatchObject({ ...untouched, id: json.id });
      expect(json.id).not.toBe("mine");
    });

    it("refuses fields that the caller may not read either, like unknown names", async () => {
      const told = async (name: string) => {
        const { status, json } = await sendAs(app(), "anonymous", "POST", "/api/accounts", {
          body: signUp({ [name]: "x" }),
        });
        return [status, json.errors[name]];
      };
      expect(await told("token")).toEqual([400, "is not a field"]);
      expect(await told("xqzw")).toEqual([400, "is not a field"]);
    });

    it("does not affect legitimate requests", async () => {
      const { json } = await sendAs(app(), "root", "POST", "/api/accounts", { body: signUp({ role: "editor" }) });
      expect(await account(json.id)).toMatchObject({ role: "editor" });
    });
  });

  advisory("GHSA-99h5-pjcv-gr6v the user is taken from the body where there is no session", app, {
    exploits: [
      ["anonymous", "POST", "/api/letters", { body: { subject: "s", body: "b", seal: "s", authorId: "ann" } }],
      [
        "anonymous",
        "POST",
        "/api/letters",
        { body: { subject: "s", body: "b", seal: "s", userId: "ann", user: "ann" } },
      ],
      ["anonymous", "POST", "/api/notes", { body: { title: "t", author: { id: "ann" } } }],
      ["bob", "POST", "/api/letters", { body: { subject: "s", body: "b", seal: "s", authorId: "ann" } }],
      ["bob", "POST", "/api/letters/letter-ann/rewrite", { body: { text: "x", user: { id: "ann" } } }],
    ],
    neighbours: [["ann", "POST", "/api/letters", { body: { subject: "s", body: "b", seal: "s", authorId: "ann" } }]],
  });

  describe("GHSA-393c-p46r-7c95 a caller writes a column that the server maintains", () => {
    it("does not happen: the column keeps the server's value", async () => {
      const made = await sendAs(app(), "ann", "POST", "/api/accounts", { body: signUp({}) });
      const path = `/api/accounts/${made.json.id}`;
      const before = await account(made.json.id);
      for (const field of ["verified", "version", "createdAt", "updatedAt", "id"]) {
        const value = { verified: true, version: 99, createdAt: 0, updatedAt: 0, id: "x" }[field];
        await sendAs(app(), "ann", "PATCH", path, { body: { [field]: value } });
        await sendAs(app(), "ann", "PUT", "/api/accounts/bulk", {
          body: { ids: [made.json.id], data: { [field]: value } },
        });
      }
      expect(await account(made.json.id)).toMatchObject({
        ...untouched,
        createdAt: before?.createdAt,
        id: made.json.id,
      });
    });

    it("does not affect legitimate requests", async () => {
      const { json } = await sendAs(app(), "ann", "PATCH", "/api/accounts/account-ann", { body: { name: "Ann" } });
      expect(json).toMatchObject({ name: "Ann", version: 2 });
    });
  });
});

describe("objects of another caller", () => {
  describe("GHSA-jq29-r496-r955 the same id in two collections of users", () => {
    it("does not happen: a caller with the same id as a record is not its owner", async () => {
      const system = app().api.asSystem() as unknown as Record<string, { create(data: object): Promise<unknown> }>;
      await system.letter?.create({ id: "bob", subject: "s", body: "b", seal: "s", authorId: "ann" });
      expect((await sendAs(app(), "bob", "GET", "/api/letters/bob")).status).toBe(403);
      expect((await sendAs(app(), "bob", "PATCH", "/api/accounts/bob", { body: {} })).status).toBe(404);
      expect((await sendAs(app(), "ann", "GET", "/api/letters/bob")).status).toBe(200);
    });
  });

  describe("GHSA-26rv-h2hf-3fw4 a new user gets the id of a deleted one, and old tokens work again", () => {
    it("does not happen: ids are never reused, and callers cannot choose them", async () => {
      const seen = new Set<string>();
      for (let round = 0; round < 10; round++) {
        const body = { subject: "s", body: "b", seal: "s", id: [...seen].at(-1) };
        const { json } = await sendAs(app(), "ann", "POST", "/api/letters", { body });
        expect(seen.has(json.id)).toBe(false);
        seen.add(json.id);
        await sendAs(app(), "ann", "DELETE", `/api/letters/${json.id}`);
      }
      for (const id of seen) expect((await sendAs(app(), "ann", "GET", `/api/letters/${id}`)).status).toBe(404);
    });
  });

  advisory("GHSA-cq3f-vc6p-68fh whoever is logged in may approve what is somebody else's", app, {
    exploits: ["rewrite", "renew", "restore", "archive", "toggle-pinned", "clone"].flatMap((action): Asked[] => [
      ["bob", "POST", `/api/letters/letter-ann/${action}`, { body: { text: "x", pin: "a long pin" } }],
      ["bob", "POST", `/api/drawers/drawer-ann/${action}`, { body: { text: "x", pin: "a long pin" } }],
    ]),
    neighbours: [["ann", "POST", "/api/letters/letter-ann/archive"]],
  });
});

describe("defaults that fail open", () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  const start = (config: Partial<KeelsonConfig>): Keelson => {
    const api: Keelson = keelson({ entities: [], driver: memoryDriver(), logger: noopLogger, ...config });
    closing.push(() => api.close());
    return api;
  };
  const status = async (api: Keelson, path: string, headers: Record<string, string> = {}): Promise<number> =>
    (await api.fetch(new Request(`http://host.invalid${path}`, { headers }))).status;
  const ruled = (rules: EntityRulesInput) => entity("thing", { name: string }).rules(rules);

  describe("GHSA-849r-qrwj-8rv4 a missing caller counts as an administrator", () => {
    it("does not happen: a missing user is anonymous, also in code", async () => {
      const plugin = createPlugin({
        id: "for-nobody",
        setup({ routes, runAs }) {
          const handler = () => runAs(null, (scope) => scope.run({ kind: "list", entity: "thing" }));
          routes.add({ method: "GET", path: "/for-nobody", action: "list", rules: ["everyone"], handler });
        },
      });
      const api = start({ entities: [ruled({ read: ["authenticated"] })], plugins: [plugin] });
      expect([await status(api, "/for-nobody"), await status(api, "/api/things")]).toEqual([401, 401]);
      const as = api.as as unknown as (user: unknown) => Record<string, { list(): Promise<unknown> }>;
      for (const nobody of [null, undefined, {}, { id: undefined }, { id: null }, { id: "" }, { role: "admin" }]) {
        const list = async (): Promise<unknown> => as(nobody).thing?.list();
        await expect(list(), JSON.stringify(nobody)).rejects.toMatchObject({ status: 401 });
      }
    });
  });

  describe("GHSA-8fpg-xm3f-6cx3 a failing authentication admits callers", () => {
    it("does not happen: the status is 401 or 503, even for public records", async () => {
      const failing = [
        () => {
          throw new TypeError("the store of sessions is away");
        },
        () => Promise.reject(new TypeError("the store of sessions is away")),
        () => ({ message: "configuration error" }) as never,
        () => "root" as never,
        () => true as never,
      ];
      for (const getUser of failing) {
        const api = start({ entities: [ruled({ read: ["everyone"], create: ["authenticated"] })], getUser });
        expect([401, 503], String(getUser)).toContain(await status(api, "/api/things"));
      }
    });

    it("does not happen: without a secret, the app does not start", () => {
      for (const secret of [undefined, "", "short"])
        expect(() => start({ plugins: [jwtAuth({ secret, issuer: "i", audience: "a" })] })).toThrow(/secret/);
    });

    it("does not affect legitimate requests", async () => {
      const refused = start({
        entities: [ruled({ read: ["everyone"] })],
        getUser({ headers }) {
          if (headers.get("authorization") !== null) throw new AuthenticationError("The session has ended");
          return null;
        },
      });
      expect(await status(refused, "/api/things")).toBe(200);
      expect(await status(refused, "/api/things", { authorization: "Bearer old" })).toBe(401);
    });
  });

  describe("GHSA-9cvc-v7wm-992c undefined rules allow every caller", () => {
    it.each([{}, { read: [] }, { read: undefined }, { create: ["everyone"] }])("does not happen: %o", async (rules) => {
      const entities = [ruled(rules as EntityRulesInput)];
      const api = start({ entities, getUser: () => ({ id: "u", role: "admin" }) });
      for (const path of ["/api/things", "/api/things/1"]) expect(await status(api, path)).toBe(403);
    });

    it.each([{ read: [undefined] }, { read: [""] }, { read: ["everyon"] }])(
      "the app does not start with %o",
      (rules) => {
        expect(() => start({ entities: [ruled(rules as EntityRulesInput)] })).toThrow();
      },
    );

    it("does not affect legitimate requests", async () => {
      expect(await status(start({ entities: [ruled({ read: ["everyone"] })] }), "/api/things")).toBe(200);
    });
  });

  describe("GHSA-6gpp-xcg3-4w24 a header claims that an outer guard has allowed the request", () => {
    const HEADERS = [
      { "x-middleware-subrequest": "middleware:middleware:middleware:middleware:middleware" },
      { "x-middleware-subrequest": "src/middleware" },
      { "x-internal-request": "1", "x-forwarded-host": "localhost" },
      { "x-original-url": "/health/live", "x-rewrite-url": "/health/live" },
    ];

    it("does not happen: the rule is checked where the records are read", async () => {
      for (const headers of HEADERS)
        for (const path of ["/api/vaults", "/every-vault", "/unruled"])
          expect((await sendAs(app(), "anonymous", "GET", path, { headers })).status, path).toBe(401);
    });

    it("does not happen: calls without a request are checked as well", async () => {
      const guarded = createPlugin({
        id: "guarded",
        endpoints: {
          inner: endpoint("/inner", {
            rules: ["everyone"],
            handler: ({ scope }) => scope.run({ kind: "list", entity: "thing" }),
          }),
        },
      });
      const api = start({ entities: [ruled({ read: ["admin"] })], plugins: [guarded], getUser: () => ({ id: "u" }) });
      expect(await status(api, "/inner")).toBe(403);
      const things = (api.as({ id: "u" }) as unknown as Record<string, { list(): Promise<unknown> }>).thing;
      await expect(things?.list()).rejects.toMatchObject({ status: 403 });
    });
  });
});
