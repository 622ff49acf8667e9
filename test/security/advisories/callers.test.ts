import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { httpService, keelson, memoryDriver, noopLogger, verifyPassword } from "../../../src/index.ts";
import { rateLimit } from "../../../src/plugins/rate-limit/index.ts";
import { listServer } from "../../plugins/remote-joins/list-server.ts";
import { type Asked, advisory, attackedApp } from "../../support/attacks/advisory.ts";
import {
  type AttackedApp,
  AUDIENCE,
  ISSUER,
  LOGINS,
  startAttackedApp,
  TOKEN_SECRET,
} from "../../support/attacks/attacked-app.ts";
import { sendAs } from "../../support/attacks/send-as.ts";
import { countCalls } from "../../support/count-calls.ts";
import { rawRequest, requestBytes } from "../../support/http.ts";
import { RAW_DATABASES, type RawDatabase } from "../../support/protected/raw-database.ts";

// Advisories of other systems about callers: tokens, addresses, names, existence oracles, and concurrent requests. Each
// exploit is rebuilt in Keelson's syntax.

const app = attackedApp();

describe("tokens", () => {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1_000);
  const claims = { sub: "root", role: "admin", iss: ISSUER, aud: AUDIENCE, iat: now, exp: now + 600 };
  const sign = (header: object, said: object, key: string = TOKEN_SECRET, hash = "sha256"): string => {
    const text = `${part(header)}.${part(said)}`;
    return `${text}.${createHmac(hash, key).update(text).digest("base64url")}`;
  };
  const HS256 = { alg: "HS256", typ: "JWT" };
  const asks = (tokens: readonly string[]): Asked[] =>
    tokens.flatMap((token): Asked[] => [
      ["anonymous", "GET", "/mine", { token }],
      ["anonymous", "GET", "/api/vaults", { token }],
      ["anonymous", "GET", "/who", { token }],
    ]);
  const good: readonly Asked[] = asks([sign(HS256, claims)]);

  advisory("CVE-2026-22817, CVE-2026-22818 the header of a token says how it is verified", app, {
    exploits: asks([
      sign({ alg: "HS512" }, claims, TOKEN_SECRET, "sha512"),
      sign({ alg: "HS384" }, claims, TOKEN_SECRET, "sha384"),
      ...["RS256", "ES256", "EdDSA", "PS256"].map((alg) => sign({ alg }, claims)),
      sign({ ...HS256, jwk: { kty: "oct", k: part("mine") } }, claims, '"mine"'),
      sign({ ...HS256, kid: "/dev/null" }, claims, ""),
    ]),
    neighbours: good,
  });

  advisory("GHSA-f577-qrjj-4474 a token is taken under any scheme", app, {
    exploits: ["Basic", "Token", "JWT", "Digest", "Bearerx"].map(
      (scheme): Asked => [
        "anonymous",
        "GET",
        "/mine",
        { headers: { authorization: `${scheme} ${sign(HS256, claims)}` } },
      ],
    ),
    neighbours: ["Bearer", "bearer"].map(
      (scheme): Asked => [
        "anonymous",
        "GET",
        "/mine",
        { headers: { authorization: `${scheme} ${sign(HS256, claims)}` } },
      ],
    ),
  });

  advisory("GHSA-m732-5p4w-x69g a token for somebody else's API, or for none, is taken", app, {
    exploits: asks(
      [undefined, "", [], "another", ["another"], `${AUDIENCE}2`, [[AUDIENCE]]].map((aud) =>
        sign(HS256, { ...claims, aud }),
      ),
    ),
    neighbours: [...good, ...asks([sign(HS256, { ...claims, aud: ["another", AUDIENCE] })])],
  });

  advisory("GHSA-9h47-pqcx-hjr4 a token that is not signed at all is taken", app, {
    exploits: asks(
      ["none", "None", "nOnE", "NONE", ""].flatMap((alg) => [
        `${part({ alg })}.${part(claims)}.`,
        `${part({ alg })}.${part(claims)}`,
        sign({ alg }, claims),
      ]),
    ),
    neighbours: good,
  });
});

describe("URLs from the caller", () => {
  describe("GHSA-vp58-j275-797x a parameter redirects to another site after login", () => {
    it("does not happen: nothing in the request becomes a redirect target", async () => {
      const evil = "https://attacker.example/";
      for (const name of ["redirect", "callbackURL", "next", "returnTo", "url"])
        for (const [method, path] of [
          ["POST", "/login"],
          ["GET", "/api/people"],
          ["GET", "/docs"],
        ] as const) {
          const sent = method === "POST" ? { body: { [name]: evil } } : {};
          const { status, headers, text } = await sendAs(app(), "anonymous", method, `${path}?${name}=${evil}`, sent);
          expect(status < 300 || status >= 400, path).toBe(true);
          expect(`${headers.get("location")} ${headers.get("link")} ${headers.get("refresh")}`).not.toContain(
            "attacker",
          );
          if (path !== "/api/people") expect(text).not.toContain("attacker");
        }
    });

    it("does not happen: Host and similar headers do not appear in URLs", async () => {
      const lines = [
        "X-Forwarded-Host: attacker.example",
        "X-Forwarded-Proto: https",
        `Content-Type: application/json`,
      ];
      const body = JSON.stringify({ email: "located@host.example", password: "long enough" });
      const bytes = requestBytes("POST", "/api/accounts", [...lines, `Content-Length: ${body.length}`], body);
      const [answer] = await rawRequest(app().port, bytes.replace("test.invalid", "attacker.example"));
      expect(answer?.status).toBe(201);
      expect(JSON.stringify(answer?.headers)).not.toContain("attacker");
      expect(answer?.headers.find(([name]) => name === "location")?.[1]).toMatch(/^\/api\/accounts\/[\w-]+$/);
    });
  });

  describe("GHSA-3573-4c68-g8cc, GHSA-68g8-c275-xf2m, GHSA-6r7f-q7f5-wpx8 the server fetches a URL from the request", () => {
    it("does not happen: a URL in place of an id is only an id", async () => {
      const inner = await listServer();
      const { baseUrl, targets } = await listServer();
      const ids = [
        `http://${inner.host}/api/plans`,
        `//${inner.host}`,
        `@${inner.host}`,
        "../../inner",
        "a&id=b",
        "a#b",
        "127.0.0.2",
      ];
      const answer = (await httpService({ baseUrl }).fetchByIds("plan", ids)) as { id: string }[];
      expect(answer.map(({ id }) => id)).toEqual(ids);
      expect(new Set(targets.map((target) => target.split("?")[0]))).toEqual(new Set(["/api/plans"]));
      expect(inner.targets).toEqual([]);
    });
  });

  describe("GHSA-8p72-rcq4-h6pw an allowed URL redirects to a forbidden one", () => {
    it.each([301, 302, 303, 307, 308])("does not happen: %i is an error", async (status) => {
      const inner = await listServer();
      const { baseUrl } = await listServer((response) =>
        response.writeHead(status, { location: `${inner.baseUrl}/plans?id=a` }).end(),
      );
      await expect(Promise.resolve(httpService({ baseUrl }).fetchByIds("plan", ["a"]))).rejects.toThrow(String(status));
      expect(inner.targets).toEqual([]);
    });
  });
});

describe("existence", () => {
  const shape = ({ status, text }: { status: number; text: string }, id: string): string =>
    `${status} ${text.replace(/"requestId":"[^"]*"/, "").replaceAll(id, "…")}`;

  describe("GHSA-cph6-524f-3hgr the refusal for an existing record differs from that for a missing one", () => {
    it("does not happen for entities that respond with 404 or 401", async () => {
      for (const [caller, path, ids] of [
        ["bob", "/api/drawers", ["drawer-ann", "drawer-ann-gone", "drawer-zoe"]],
        ["anonymous", "/api/drawers", ["drawer-ann", "drawer-zoe"]],
        ["anonymous", "/api/letters", ["letter-ann", "letter-zoe"]],
        ["anonymous", "/api/vaults", ["vault-ann", "vault-zoe"]],
      ] as const)
        for (const method of ["GET", "PATCH", "DELETE"]) {
          const init = method === "PATCH" ? { body: {} } : {};
          const shapes = await Promise.all(
            ids.map(async (id) => shape(await sendAs(app(), caller, method, `${path}/${id}`, init), id)),
          );
          expect(new Set(shapes).size, `${caller} ${method} ${path}`).toBe(1);
        }
    });
  });

  describe("GHSA-jr94-gj3h-c8rf the duration of a refusal reveals whether a record exists", () => {
    it("does not happen: existing and missing records cause the same statements", async () => {
      const calls = { count: 0 };
      const driver = memoryDriver();
      const counted = await startAttackedApp({
        driver: countCalls(driver, calls),
        rows: (name) => driver.findMany(name),
      });
      for (const [caller, path] of [
        ["bob", "/api/drawers"],
        ["anonymous", "/api/drawers"],
        ["anonymous", "/api/letters"],
      ] as const)
        for (const method of ["GET", "PATCH", "DELETE"]) {
          const made: number[] = [];
          for (const id of [`${path.slice(5, -1)}-ann`, "missing"]) {
            const before = calls.count;
            await sendAs(counted, caller, method, `${path}/${id}`, method === "PATCH" ? { body: {} } : {});
            made.push(calls.count - before);
          }
          expect(made[0], `${caller} ${method} ${path}: ${made}`).toBe(made[1]);
          if (caller === "anonymous") expect(made[0]).toBe(0);
        }
      await counted.close();
    });
  });

  it("GHSA-qhxg-623c-cfjm hashes are compared, not secrets character by character", async () => {
    const path = "../../../src/plugins/field-security/password/stored-hash.ts";
    const source = await readFile(new URL(path, import.meta.url), "utf8");
    expect(source.match(/matches: async \(password\) =>\s+timingSafeEqual\(/g)).toHaveLength(2);
  });

  describe("GHSA-jr54-jwhj-55gp a login is faster for an unknown user", () => {
    it("does not happen: an unknown user costs a hash, which is queued like any other", async () => {
      const stopped = AbortSignal.abort();
      // A login without a hash would not be queued, and so would not exceed the waiting time.
      for (const hash of [undefined, null, "", "no hash", "$pbkdf2$1$AA==$AA=="]) {
        await expect(verifyPassword("wrong", hash, { cost: 1, signal: stopped })).rejects.toMatchObject({
          status: 503,
        });
        expect(await verifyPassword("wrong", hash, { cost: 1 })).toBe(false);
      }
    });
  });

  advisory("GHSA-4m9m-p9j9-5hjw a value is said to be taken before anybody asks who may know", app, {
    exploits: [
      ["anonymous", "PATCH", "/api/accounts/account-bob", { body: { email: "ann@host.example" } }],
      ["anonymous", "PATCH", "/api/people/bob", { body: { ssn: "taken or not" } }],
      ["ann", "PATCH", "/api/people/bob", { body: { ssn: "taken or not" } }],
      ["anonymous", "POST", "/api/badges", { body: { pin: "long enough", serial: 1, holderId: "ann" } }],
    ],
    neighbours: [["ann", "PATCH", "/api/people/ann", { body: { ssn: "an ssn of ann's" } }]],
  });

  it("GHSA-4m9m-p9j9-5hjw taken and free values are refused alike", async () => {
    const taken = app().canaries.all.find(({ field, facts }) => field === "ssn" && facts.owner === "bob")?.text ?? "";
    for (const [caller, path] of [
      ["anonymous", "/api/people/root"],
      ["ann", "/api/people/root"],
    ] as const) {
      const shapes = await Promise.all(
        [taken, "nobody's"].map(async (ssn) =>
          shape(await sendAs(app(), caller, "PATCH", path, { body: { ssn } }), ssn),
        ),
      );
      expect(new Set(shapes).size, caller).toBe(1);
    }
  });
});

describe("single-use values, used twice at once", () => {
  let database: RawDatabase;
  let onPostgres: AttackedApp;
  beforeAll(async () => {
    const [, open] = RAW_DATABASES.find(([name]) => name === "PostgreSQL") ?? expect.fail("PostgreSQL");
    database = await open();
    const rows = (entity: string) => database.query(`SELECT * FROM "${entity}" ORDER BY "id"`);
    onPostgres = await startAttackedApp({ driver: database.driver(), rows });
  });
  afterAll(async () => {
    await onPostgres?.close();
    await database?.drop();
  });
  const atOnce = async (count: number, ...[as, method, path, init]: Asked): Promise<number[]> => {
    const asked = Array.from({ length: count }, () => sendAs(onPostgres, as, method, path, init));
    return (await Promise.all(asked)).map(({ status }) => status).sort();
  };

  it("GHSA-r3xq-68wh-gwvh of two resets with one token, one succeeds, one gets 412", async () => {
    const { headers } = await sendAs(onPostgres, "ann", "GET", "/api/accounts/account-ann");
    const init = { body: { name: "reset" }, headers: { "if-match": headers.get("etag") ?? "" } };
    const statuses = await atOnce(12, "ann", "PATCH", "/api/accounts/account-ann", init);
    expect(statuses).toEqual([200, ...Array.from({ length: 11 }, () => 412)]);
  });

  it("GHSA-392p-2q2v-4372 of two callers that renew a token at once, one succeeds", async () => {
    const path = "/api/accounts/account-bob";
    const { headers } = await sendAs(onPostgres, "bob", "GET", path);
    const asked = Array.from({ length: 12 }, (_, i) =>
      sendAs(onPostgres, i % 2 === 0 ? "bob" : "root", "PUT", path, {
        body: { name: `renewal ${i}` },
        headers: { "if-match": headers.get("etag") ?? "" },
      }),
    );
    const answers = await Promise.all(asked);
    const [winner, ...others] = answers.filter(({ status }) => status === 200);
    expect([others.length, answers.filter(({ status }) => status === 412).length]).toEqual([0, 11]);
    const [stored] = await database.query(`SELECT "name", "version" FROM "account" WHERE "id" = 'account-bob'`);
    expect([stored?.name, stored?.version]).toEqual([winner?.json.name, 2]);
  });

  it("GHSA-7w99-5wm4-3g79 a code that is deleted on use can be used once", async () => {
    const body = { subject: "a code", body: "b", seal: "s" };
    const { json } = await sendAs(onPostgres, "ann", "POST", "/api/letters", { body });
    const statuses = await atOnce(12, "ann", "DELETE", `/api/letters/${json.id}`);
    expect(statuses).toEqual([200, ...Array.from({ length: 11 }, () => 404)]);
  });

  it("many sign-ups with one address at once create one account", async () => {
    const body = { email: "once@host.example", password: "long enough" };
    const statuses = await atOnce(12, "anonymous", "POST", "/api/accounts", { body });
    expect(statuses).toEqual([201, ...Array.from({ length: 11 }, () => 409)]);
    const made = (await onPostgres.stored("account")).filter(({ email }) => email === body.email);
    expect(made).toHaveLength(1);
  });
});

describe("paths", () => {
  const spelled = (as: "anonymous" | "bob", target: string) => {
    const token = app().tokens[as];
    const lines = token === undefined ? [] : [`Authorization: Bearer ${token}`];
    return rawRequest(app().port, requestBytes("GET", target, lines)).then(([answer]) => answer?.status);
  };

  it("GHSA-x732-6j76-qmhm a second slash does not bypass a rule or a limit", async () => {
    for (const target of [
      "//api/vaults",
      "/api//vaults",
      "///api/vaults",
      "/api/vaults//",
      "//every-vault",
      "//unruled",
    ])
      for (const caller of ["anonymous", "bob"] as const)
        expect(await spelled(caller, target), `${caller} ${target}`).toBe(400);
    expect(await spelled("anonymous", "/api/vaults/")).toBe(401);
    expect(await spelled("bob", "/api/letters/")).toBe(200);
  });

  it("GHSA-2gcr-mfcq-wcc3 an encoded path means the same in front of the app and in it", async () => {
    const targets = [
      "/%61pi/vaults",
      "/api/%76aults",
      "/api%2fvaults",
      "/api/people%2f..%2fvaults",
      "/api/people/%2e%2e/vaults",
    ];
    for (const target of targets)
      for (const caller of ["anonymous", "bob"] as const)
        expect([400, 401, 403, 404], `${caller} ${target}`).toContain(await spelled(caller, target));
    expect(await spelled("bob", "/api/letters/letter%2Dbob")).toBe(200);
  });
});

describe("names that look alike", () => {
  describe("GHSA-qw9g-7549-7wg5 a collation matches another user's address, and the reset is sent there", () => {
    it.each([
      "ann@höst.example",
      "änn@host.example",
      "ａnn@host.example",
      "ann@host.examp\u200ble",
      "ann@ho\u017ft.example",
    ])("does not happen: %j is not an address here", async (email) => {
      const body = { email, password: "long enough" };
      expect((await sendAs(app(), "anonymous", "POST", "/api/accounts", { body })).status).toBe(400);
      const { json } = await sendAs(app(), "ann", "GET", `/api/accounts?email=${encodeURIComponent(email)}`);
      expect(json).toEqual([]);
    });
  });

  describe("GHSA-7rqj-j65f-68wh an address is validated first and normalised afterwards", () => {
    it("does not happen: the stored form is validated", async () => {
      for (const email of ["  ANN@host.example ", "ann@HOST.example\t", "\u00a0ann@host.example"]) {
        const { status } = await sendAs(app(), "anonymous", "POST", "/api/accounts", {
          body: { email, password: "long enough" },
        });
        expect([400, 409], JSON.stringify(email)).toContain(status);
      }
      const body = { email: "  Neu@HOST.example ", password: "long enough" };
      const { json } = await sendAs(app(), "ann", "POST", "/api/accounts", { body });
      expect(json.email).toBe("neu@host.example");
    });
  });
});

describe("the key of a quota", () => {
  const limited = attackedApp();

  it("CVE-2025-64526 a field of the body does not start a new quota", async () => {
    const statuses: number[] = [];
    for (let i = 0; i < LOGINS * 3; i++)
      statuses.push(
        (await sendAs(limited(), "anonymous", "POST", "/login", { body: { email: `a${i}@host.example` } })).status,
      );
    expect(statuses.filter((status) => status === 200)).toHaveLength(LOGINS);
    expect(statuses.at(-1)).toBe(429);
  });

  it("GHSA-775h-3xrc-c228 no request combines several requests to exceed a quota", async () => {
    const requests = Array.from({ length: 9 }, () => ({ method: "POST", path: "/login", body: {} }));
    for (const path of ["/batch", "/api/$batch", "/graphql", "/parse/batch"])
      expect((await sendAs(limited(), "anonymous", "POST", path, { body: { requests } })).status, path).toBe(404);
    // A batch contains only changes of records, and each counts for its quota.
    const batch = await sendAs(limited(), "anonymous", "POST", "/api/batch", { body: requests });
    expect([400, 404]).toContain(batch.status);
    const many = Array.from({ length: 9 }, () => ({ method: "POST", path: "/login" }));
    expect((await sendAs(limited(), "anonymous", "POST", "/login", { body: many })).status).toBe(429);
  });

  it("GHSA-p6v2-xcpg-h6xw an IPv6 network has one quota for all its addresses", async () => {
    const policies = [{ name: "all", limit: 3, window: 3_600, by: "address" as const }];
    const api = keelson({
      entities: [],
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: [rateLimit({ policies })],
    });
    const from = async (address: string): Promise<number> =>
      (await api.handle({ method: "GET", url: "/openapi.json", headers: {}, address })).status;
    const statuses: number[] = [];
    for (let i = 0; i < 8; i++) statuses.push(await from(`2001:db8:1:2:${i}::${i + 1}`));
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
    expect(await from("2001:db8:1:3::1")).toBe(200);
    await api.close();
  });
});
