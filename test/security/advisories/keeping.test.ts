import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { type Asked, advisory, attackedApp } from "../../support/attacks/advisory.ts";
import { sendAs } from "../../support/attacks/send-as.ts";

// Advisories of other systems about stored and copied data: caches, logs, journals, copies of objects and of definitions,
// exports. Each exploit is rebuilt in Keelson's syntax.

const app = attackedApp();

describe("stored responses", () => {
  describe("GHSA-c6w9-5g5j-jh2p the key of a cache lacks the role", () => {
    it("does not happen: each caller gets their own response, in every order", async () => {
      const order = ["root", "ann", "anonymous", "bob", "root", "anonymous", "ann"] as const;
      for (const path of ["/api/people/ann", "/api/people", "/api/parcels?include=recipient", "/openapi.json"]) {
        const seen = new Map<string, string>();
        for (const caller of order) {
          const { text, headers } = await sendAs(app(), caller, "GET", path);
          expect(app().canaries.leaksIn(text, caller), `${caller} ${path}`).toEqual([]);
          const tag = headers.get("etag") ?? text;
          expect(seen.get(tag) ?? text, `${caller} ${path}`).toBe(text);
          seen.set(tag, text);
        }
        expect(new Set(seen.values()).size, path).toBeGreaterThan(1);
      }
    });
  });

  describe("GHSA-cff8-x7jv-4fm8 a shared cache stores the response to a login", () => {
    it("does not happen: no response allows it", async () => {
      for (const [caller, method, path] of [
        ["ann", "GET", "/who"],
        ["anonymous", "GET", "/mine"],
        ["anonymous", "POST", "/login"],
        ["ann", "GET", "/api/letters"],
        ["ann", "GET", "/api/letters/missing"],
        ["ann", "GET", "/api/letters/export"],
        ["anonymous", "GET", "/api/people"],
      ] as const) {
        const { headers } = await sendAs(app(), caller, method, path);
        expect(headers.get("cache-control"), path).toBe("private, no-store");
        for (const name of ["authorization", "cookie", "origin"])
          expect(headers.get("vary")?.toLowerCase(), path).toContain(name);
      }
    });
  });

  describe("GHSA-f23p-vx2j-j53r, GHSA-hvrm-45r6-mjfj a waiting request sees the context of another request", () => {
    it("does not happen: many parallel requests each keep their caller", async () => {
      const callers = Array.from(
        { length: 120 },
        (_, i) => (["ann", "bob", "root", "anonymous"] as const)[i % 4] ?? "ann",
      );
      const answers = await Promise.all(
        callers.map(async (caller, i) => {
          const path = i % 3 === 0 ? "/who" : "/api/letters?include=author";
          return [caller, path, await sendAs(app(), caller, "GET", path)] as const;
        }),
      );
      for (const [caller, path, { status, json, text }] of answers) {
        expect(app().canaries.leaksIn(text, caller)).toEqual([]);
        if (path === "/who") expect(json.user?.id ?? "anonymous").toBe(caller);
        else if (caller === "anonymous") expect(status).toBe(401);
        else expect(json.map(({ authorId }: { authorId: string }) => authorId)).toEqual([caller]);
      }
    });
  });

  describe("GHSA-wfc6-r584-vfw7 two variants of a response share one cache entry", () => {
    it("does not happen: an ETag matches only the bytes that the caller would get", async () => {
      const path = "/openapi.json";
      const root = await sendAs(app(), "root", "GET", path);
      const tag = root.headers.get("etag") ?? "";
      expect(tag).not.toBe("");
      const headers = { "if-none-match": tag };
      expect((await sendAs(app(), "root", "GET", path, { headers })).status).toBe(304);
      const other = await sendAs(app(), "ann", "GET", path, { headers });
      expect(other.status).toBe(200);
      expect(other.text).not.toBe(root.text);
    });
  });
});

describe("secrets in logs and journals", () => {
  const secrets = { password: "a password of ann's", recovery: "recovery-9917", diary: "diary-9917", ssn: "ssn-9917" };
  const words = [...Object.values(secrets), "pin-of-ann-9917", "token-9917"];

  describe("GHSA-mvv8-v4jj-g47j revisions of a record store tokens and second factors in clear", () => {
    it("does not happen: audit entries list changed secrets without their values", async () => {
      const changed = await sendAs(app(), "ann", "PATCH", "/api/people/ann", { body: { name: "Ann", ...secrets } });
      expect(changed.status).toBe(200);
      const { json, text } = await sendAs(app(), "root", "GET", "/api/audit-entries?_limit=20&_sort=-id");
      expect(json.length).toBeGreaterThan(0);
      expect(text).toContain("Ann");
      const stored = JSON.stringify(await app().stored("auditEntry"));
      for (const word of words) expect([text.includes(word), stored.includes(word)], word).toEqual([false, false]);
      expect(`${text} ${stored}`).not.toMatch(/\$pbkdf2\$|"new:[A-Za-z0-9+/]{20}/);
    });
  });

  describe("GHSA-f24x-rm6g-3w5v the log of a flow stores the input of its steps", () => {
    it("does not happen: a journal stores no password of the input, under any name", async () => {
      for (const text of ["done", "fail"])
        await sendAs(app(), "ann", "POST", "/api/letters/letter-ann/renew", { body: { pin: "pin-of-ann-9917", text } });
      for (const table of ["workflowRun", "workflowStep"]) {
        const rows = JSON.stringify(await app().stored(table));
        expect(rows.length).toBeGreaterThan(2);
        expect(rows).not.toContain("pin-of-ann-9917");
      }
      const runs = await app().stored("workflowRun");
      for (const { id } of runs)
        expect((await sendAs(app(), "ann", "GET", `/api/workflow-runs/${id}`)).text).not.toContain("ann-9917");
    });
  });

  describe("GHSA-vw58-ph65-6rxp a token in the query is written to the log", () => {
    it("does not happen: log lines contain no query, no header and no value", async () => {
      const token = "token-9917";
      for (const path of ["/broken", "/api/people", "/api/people/missing", "/api/letters", "/nowhere", "/raw/find"])
        for (const query of [`?access_token=${token}`, `?q=${token}`, `?password=${token}`])
          await sendAs(app(), "ann", "GET", path + query, {
            headers: { cookie: `session=${token}`, "x-api-key": token },
          });
      expect(app().lines.some((line) => line.startsWith("error"))).toBe(true);
      const log = app().lines.join("\n");
      for (const word of words) expect(log, word).not.toContain(word);
      expect(log).not.toContain(app().tokens.ann ?? "no token");
    });
  });
});

describe("names of prototypes", () => {
  advisory("GHSA-5j86-7r7m-p8h6 a function called constructor or __proto__ ends the process", app, {
    exploits: ["constructor", "__proto__", "prototype", "toString", "hasOwnProperty", "valueOf"].flatMap(
      (name): Asked[] => [
        ["ann", "POST", `/api/${name}`, { body: {} }],
        ["ann", "POST", `/api/letters/letter-ann/${name}`, { body: {} }],
        ["ann", "POST", `/${name}`, { body: {} }],
        ["ann", "GET", `/raw/${name}`],
        ["ann", "GET", `/api/workflow-runs/${name}`],
        ["ann", "GET", `/api/people?include=${name}`],
      ],
    ),
    neighbours: [["ann", "POST", "/api/letters/letter-ann/rewrite", { body: { text: "x" } }]],
  });

  describe("GHSA-9ccr-fpp6-78qf a deep copy of the input changes every object", () => {
    it("does not happen: such names are data, or refused", async () => {
      const bodies = [
        '{"answers":{"__proto__":{"polluted":1}}}',
        '{"answers":{"a":[{"constructor":{"prototype":{"polluted":1}}}]}}',
        '{"__proto__":{"polluted":1}}',
        '{"constructor":{"prototype":{"polluted":1}}}',
      ];
      for (const raw of bodies) {
        const { status } = await sendAs(app(), "ann", "PATCH", "/api/people/ann", { raw });
        expect([200, 400], raw).toContain(status);
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      }
    });

    it("does not affect legitimate requests", async () => {
      const answers = { constructor: { prototype: { polluted: 1 } }, list: [{ toString: "text" }] };
      const { json } = await sendAs(app(), "ann", "PATCH", "/api/people/ann", { body: { answers } });
      expect(json.answers).toEqual(answers);
      expect((await sendAs(app(), "ann", "GET", "/api/people/ann")).json.answers).toEqual(answers);
    });
  });

  advisory("GHSA-hrpp-h998-j3pp a query writes to the prototype of what it is read into", app, {
    exploits: [
      "__proto__[polluted]=1",
      "a[__proto__][polluted]=1",
      "a[__proto__]=1&a[length]=100000000",
      "constructor[prototype][polluted]=1",
      "__proto__=1",
      "hasOwnProperty=1",
      `a${"[b]".repeat(1_000)}=1`,
    ].map((query): Asked => ["anonymous", "GET", `/api/people?${query}`]),
    neighbours: [["anonymous", "GET", "/api/people?name=__proto__"]],
  });
});

describe("CWE-1236, ASVS 5.0 1.2.10 a spreadsheet evaluates a caller's text", () => {
  const FORMULAS = [
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    '=HYPERLINK("http://a.example")',
  ];

  it("does not happen: no text cell begins like a formula", async () => {
    for (const subject of FORMULAS)
      await sendAs(app(), "bob", "POST", "/api/letters", { body: { subject, body: subject, seal: subject } });
    const { text } = await sendAs(app(), "bob", "GET", "/api/letters/export?format=csv&select=subject,body,seal");
    const cells = (parse(text) as string[][]).flat();
    for (const formula of FORMULAS) expect(cells.filter((cell) => cell === `'${formula}`)).toHaveLength(3);
    expect(cells.filter((cell) => /^[=+\-@\t\r\n＝]/.test(cell))).toEqual([]);
  });

  it("does not affect numbers", async () => {
    await sendAs(app(), "root", "PATCH", "/api/accounts/account-bob", { body: { credit: -5 } });
    const { text } = await sendAs(
      app(),
      "root",
      "GET",
      "/api/accounts/export?format=csv&id=account-bob&select=name,credit",
    );
    expect(text).toBe('id,name,credit\r\n"account-bob","bob",-5\r\n');
  });
});

describe("GHSA-chmr-rg2f-9jmf a copied definition loses its private fields", () => {
  const copied = attackedApp({
    what: "definitions that a plugin has copied",
    entities: (entities) =>
      entities.map((entity) => ({ ...entity, fields: { ...entity.fields }, columns: { ...entity.columns } })),
  });

  it("does not happen: the protection is part of the definition's data", async () => {
    for (const path of [
      "/api/people?include=notes,badge",
      "/api/notes",
      "/api/accounts",
      "/raw/find",
      "/api/people/export",
    ])
      for (const caller of ["anonymous", "ann"] as const) {
        const { text } = await sendAs(copied(), caller, "GET", path);
        expect(copied().canaries.leaksIn(text, caller), `${caller} ${path}`).toEqual([]);
      }
    expect((await sendAs(copied(), "ann", "GET", "/api/people?apiToken_starts=c")).status).toBe(400);
    expect((await sendAs(copied(), "ann", "GET", "/api/people/ann")).json).toHaveProperty("ownNote");
  });
});
