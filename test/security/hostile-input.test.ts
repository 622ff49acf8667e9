import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ask } from "../support/fuzz/ask.ts";
import type { CallerName } from "../support/fuzz/callers.ts";
import { FUZZ_DATABASES } from "../support/fuzz/databases.ts";
import { headLines, joinLines, type Message } from "../support/fuzz/message.ts";
import { changesBetween } from "../support/fuzz/stored-rows.ts";
import { type FuzzWorld, openWorld } from "../support/fuzz/world.ts";
import { HOSTS, type HostName } from "../support/hosts.ts";

// Input meant to break something, one thing at a time, sent to a server that stores it in a real database.

const MIB = 1_048_576;

/** Sends requests to a world, and checks their effects. */
function callersOf(world: () => FuzzWorld) {
  const request = (method: string, target: string, body?: string, caller: CallerName = "ann"): Message => ({
    ...{ caller, method, target },
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  });
  return {
    request,
    send: (...of: Parameters<typeof request>) => ask(world(), request(...of)),
    /** Sends a request that must be refused. */
    async expectRefused(message: Message, status: number, host?: HostName) {
      const { snapshots, takeErrors } = world();
      const before = await snapshots.read();
      const answer = await ask(world(), message, host);
      const at = `${message.method} ${message.target.slice(0, 100)} ${message.body?.toString().slice(0, 60) ?? ""}`;
      expect([at, answer.status]).toEqual([at, status]);
      expect(answer.json).toMatchObject({ status, code: expect.any(String), message: expect.any(String) });
      expect(changesBetween(before, await snapshots.read())).toEqual([]);
      expect(takeErrors()).toEqual([]);
      return answer.json;
    },
  };
}

describe.each(FUZZ_DATABASES)("hostile input, stored in %s:", (_name, open) => {
  let world: FuzzWorld;
  beforeAll(async () => {
    world = await openWorld(open);
  });
  afterAll(() => world?.close());
  beforeEach(() => world.snapshots.restore());
  const { request, send, expectRefused } = callersOf(() => world);

  describe("an id", () => {
    const DOORS: readonly (readonly [method: string, path: (id: string) => string, body?: string])[] = [
      ["GET", (id) => `/api/posts/${id}`],
      ["PATCH", (id) => `/api/posts/${id}`, '{"title":"Another"}'],
      ["PUT", (id) => `/api/posts/${id}`, '{"title":"Another"}'],
      ["DELETE", (id) => `/api/posts/${id}`],
      ["DELETE", (id) => `/api/posts/${id}/soft`],
      ["POST", (id) => `/api/posts/${id}/restore`],
      ["POST", (id) => `/api/posts/${id}/archive`],
      ["POST", (id) => `/api/posts/${id}/toggle-published`],
      ["POST", (id) => `/api/posts/${id}/clone`],
      ["POST", (id) => `/api/posts/${id}/rename`, '{"title":"Another"}'],
    ];
    it.each([
      ["..%2F..%2Fetc", 400],
      ["%00", 400],
      ["p-ann%00", 400],
      ["%E0%A4%A", 400],
      ["a%2Fb", 400],
      ["%2e%2e", 400],
      ["a%252Fb", 404],
      [";drop", 404],
      ["'%20OR%20'1'='1", 404],
      ["%25", 404],
      ["_", 404],
      ['%7B"$ne":1%7D', 404],
      ["undefined", 404],
      ["__proto__", 404],
      ["%F0%9F%98%80", 404],
      ["P-ANN", 404],
      ["p-ann%20", 404],
    ])("that is %s is decoded once, and matches no record on any route", async (id, status) => {
      for (const [method, path, body] of DOORS) await expectRefused(request(method, path(id), body), status);
    });

    it.each([
      [129, 404],
      [8_100, 404],
      [10_000, 400],
    ])("of %i characters matches no record on any route", async (length, status) => {
      for (const [method, path, body] of DOORS)
        await expectRefused(request(method, path("x".repeat(length)), body), status);
    });
  });

  describe("a query", () => {
    it.each([
      "_limit=-1",
      "_limit=0",
      "_limit=1.5",
      "_limit=NaN",
      `_limit=${encodeURIComponent("９")}`,
      "_limit=1000000",
      "_page=1e15",
      "_page=9007199254740993",
      "_start=9007199254740993",
      `include=${Array(50)
        .fill("author")
        .map((name, index) => name + index)
        .join()}`,
      "include=author.posts.author.posts.author",
      `include=${Array(20).fill("parent").join(".")}`,
      "published=TRUE",
      "published=1",
      "published=yes",
      "due_gt=2024-02-30",
      "rating_gt=1e999",
      Array.from({ length: 201 }, (_, index) => `x${index}=1`).join("&"),
      "__proto__[x]=1&constructor[prototype][y]=1&filter[__proto__][x]=1",
    ])("%s is refused by a list", async (query) => {
      await expectRefused(request("GET", `/api/posts?${query}`), 400);
    });

    it.each(["format=xml", "format=CSV", "format=csv&format=json", "format=csv&format=csv"])(
      "%s is refused by an export",
      async (query) => {
        await expectRefused(request("GET", `/api/posts/export?${query}`), 400);
      },
    );

    it("of ten thousand parameters is refused, or counts as one", async () => {
      await expectRefused(
        request("GET", `/api/posts?${Array.from({ length: 1_500 }, (_, i) => `a${i}`).join("&")}`),
        400,
      );
      await expectRefused(request("GET", `/api/posts?${"a&".repeat(6_000)}`), 400);
      expect((await send("GET", `/api/posts?${"_=1&".repeat(1_900)}`)).status).toBe(200);
      expect((await send("GET", `/api/posts?${"&".repeat(8_000)}`)).status).toBe(200);
    });

    it("with thousands of wildcards treats them as plain characters", async () => {
      const wild = encodeURIComponent("%_".repeat(1_000));
      expect((await send("GET", `/api/posts?title_like=${wild}`)).json).toEqual([]);
      await send("PATCH", "/api/posts/p-ann", '{"title":"100%_\\\\"}');
      const found = await send("GET", `/api/posts?title_like=${encodeURIComponent("%_\\")}`);
      expect(found.json.map(({ id }: { id: string }) => id)).toEqual(["p-ann"]);
      for (const q of ["%", "_", "\\", "%25"]) {
        const { json } = await send("GET", `/api/posts?title_starts=${encodeURIComponent(q)}`);
        expect(json).toEqual([]);
      }
    });

    it("that names a relation a thousand times reads it once", async () => {
      const { status, json } = await send("GET", `/api/posts/p-ann?include=${Array(1_000).fill("author").join()}`);
      expect([status, json.author.id]).toEqual([200, "ann"]);
    });

    it("that finds nothing is exported as an empty list, or as a header row", async () => {
      expect((await send("GET", "/api/posts/export?title=nobody")).body.toString()).toBe("[]");
      expect((await send("GET", "/api/posts/export?title=nobody&format=csv&select=id,title")).body.toString()).toBe(
        "id,title\r\n",
      );
      expect((await send("GET", "/api/posts/export?title=nobody&format=ndjson")).body.toString()).toBe("");
    });

    it.each([
      '["title,id","a\\u0000","p-ann"]',
      '["title,id","\\ud800","p-ann"]',
      '["title,id","a","p\\u0000"]',
      '["title,id",{"not":1},""]',
    ])("with the forged cursor %s is refused", async (cursor) => {
      const after = Buffer.from(cursor).toString("base64url");
      await expectRefused(request("GET", `/api/posts?_sort=title&_after=${after}`), 400);
    });
  });

  describe("a body", () => {
    const deep = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    const withMeta = (meta: string): string => `{"title":"A title","meta":${meta}}`;

    it.each([
      ["20 levels and one more", withMeta(deep(20)), 400],
      ["a hundred thousand levels of lists", withMeta(deep(100_000)), 400],
      ["a hundred thousand levels of objects", withMeta(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`), 400],
      ["a million elements", withMeta(`[${"1,".repeat(1_000_000)}1]`), 413],
      ["a hundred thousand unknown names", `{${Array.from({ length: 100_000 }, (_, i) => `"${i}":1`).join()}}`, 400],
      ["fifty thousand unknown names", `{${Array.from({ length: 50_000 }, (_, i) => `"n${i}":1`).join()}}`, 400],
      ["NUL in a value of JSON", withMeta('{"a":["\\u0000"]}'), 400],
      ["NUL in a name of JSON", withMeta('{"\\u0000":1}'), 400],
      ["half a surrogate in a value of JSON", withMeta('["\\ud800"]'), 400],
      ["half a surrogate in a name of JSON", withMeta('{"\\udfff":1}'), 400],
      ["__proto__ in a value of JSON", withMeta('{"a":{"__proto__":{"b":1}}}'), 400],
      ["a number beyond all numbers", '{"title":"A title","rating":1e999}', 400],
      ["the same in a value of JSON", withMeta("[1e999]"), 400],
      ["a fraction for a whole number", '{"title":"A title","views":1.5}', 400],
      ["33 bits", '{"title":"A title","views":4294967296}', 400],
      ["a date that is none", '{"title":"A title","due":"2024-02-30"}', 400],
      ["a number for a date", '{"title":"A title","due":0}', 400],
      ["text for a flag", '{"title":"A title","published":"false"}', 400],
      ["an operator of the ORM", '{"title":"A title","views":{"increment":1}}', 400],
      ["256 characters", `{"title":"A title","slug":"${"x".repeat(256)}"}`, 400],
      ["three blanks for three letters", '{"title":"   "}', 400],
      ["a title that a validator refuses", '{"title":"forbidden"}', 400],
    ])("with %s is refused, and nothing is stored", async (_, body, status) => {
      await expectRefused(request("POST", "/api/posts", body), status);
      await expectRefused(request("PATCH", "/api/posts/p-ann", body), status);
    });

    it.each([
      ["0", 0],
      ["-0", 0],
      ["1e-400", 0],
      ["0.1234567890123456789", 0.123_456_789_012_345_68],
      ["5e-324", 5e-324],
      ["9.999999999999998", 9.999_999_999_999_998],
    ])("with the number %s stores %d", async (written, number) => {
      const { status, json } = await send("PATCH", "/api/posts/p-ann", `{"rating":${written}}`);
      expect([status, json.rating]).toEqual([200, number]);
      expect((await send("GET", "/api/posts/p-ann")).json.rating).toBe(number);
      const found = await send("GET", `/api/posts?rating=${encodeURIComponent(written)}`);
      expect(found.json.map(({ id }: { id: string }) => id)).toEqual(["p-ann"]);
    });

    it("with a duplicate name uses the last value", async () => {
      const { status, json } = await send("PATCH", "/api/posts/p-ann", '{"title":"First","title":"Second"}');
      expect([status, json.title]).toEqual([200, "Second"]);
      await expectRefused(request("PATCH", "/api/posts/p-ann", '{"title":"Good","title":1}'), 400);
    });

    it("means the same in any order of its names", async () => {
      const values: readonly [string, unknown][] = [
        ["title", "x"],
        ["views", "1"],
        ["meta", {}],
        ["due", "never"],
      ];
      const answers = [values, values.toReversed()].map(async (entries) => {
        const { errors } = await expectRefused(
          request("POST", "/api/posts", JSON.stringify(Object.fromEntries(entries))),
          400,
        );
        return errors;
      });
      const [one, other] = [await answers[0], await answers[1]];
      expect(Object.keys(one).sort()).toEqual(["due", "title", "views"]);
      expect(other).toEqual(one);
    });

    it("that is an empty object changes only the time of the change", async () => {
      const { json: before } = await send("GET", "/api/posts/p-ann");
      const { status, json } = await send("PUT", "/api/posts/p-ann", "{}");
      expect([status, json]).toEqual([200, { ...before, updatedAt: expect.any(String), version: expect.any(Number) }]);
    });

    it("with names of built-in properties in JSON stores them as data", async () => {
      const meta = {
        constructor: { prototype: { z: 1 } },
        toString: 1,
        hasOwnProperty: null,
        a: { length: -1, toJSON: 2 },
      };
      const created = await send("POST", "/api/posts", JSON.stringify({ title: "A title", meta }));
      expect([created.status, created.json.meta]).toEqual([201, meta]);
      const path = `/api/posts/${created.json.id}`;
      expect((await send("PUT", path, JSON.stringify({ views: 1 }))).json.meta).toEqual(meta);
      expect((await send("PUT", path, JSON.stringify({ meta: { ...meta, b: 1 } }))).json.meta).toEqual({
        ...meta,
        b: 1,
      });
      expect((await send("POST", `${path}/clone`)).json.meta).toEqual({ ...meta, b: 1 });
      expect((await send("GET", "/api/posts/export?meta_null=false&select=meta")).json).toHaveLength(2);
      expect((await send("POST", "/echo", JSON.stringify({ text: "a", anything: meta }))).json.anything).toEqual(meta);
      expect(({} as { z?: unknown }).z).toBeUndefined();
    });

    it("with invalid, too many or non-string ids in bulk is refused", async () => {
      for (const ids of [
        "[]",
        "null",
        "{}",
        '"p-ann"',
        '{"0":"p-ann","length":1}',
        "[1]",
        "[null]",
        '[""]',
        '[["p-ann"]]',
        '["p\\u0000"]',
        '["\\ud800"]',
      ])
        for (const [method, path, data] of [
          ["PUT", "bulk", ',"data":{"views":1}'],
          ["DELETE", "bulk", ""],
          ["POST", "bulk-delete", ""],
        ] as const)
          await expectRefused(request(method, `/api/posts/${path}`, `{"ids":${ids}${data}}`), 400);
      const many = JSON.stringify(Array.from({ length: 1_001 }, (_, index) => `p${index}`));
      await expectRefused(request("DELETE", "/api/posts/bulk", `{"ids":${many}}`), 400);
    });

    it("with a password of half a megabyte, or one byte too long, is not hashed", async () => {
      for (const length of [MIB / 2, 1_025])
        await expectRefused(request("PATCH", "/api/users/ann", JSON.stringify({ password: "x".repeat(length) })), 400);
      expect((await send("PATCH", "/api/users/ann", JSON.stringify({ password: "é".repeat(512) }))).status).toBe(200);
    });

    it("that looks like a stored form is stored as plain data", async () => {
      const { json: before } = await send("GET", "/api/notes/n-ann");
      const row = (await world.snapshots.read()).get("note n-ann") ?? "";
      const [ciphertext = ""] = /k1:[A-Za-z0-9+/=]+/.exec(row) ?? [];
      expect(ciphertext.length).toBeGreaterThan(40);
      const { status, json } = await send("PATCH", "/api/notes/n-ann", JSON.stringify({ secret: ciphertext }));
      expect([status, json.secret]).toEqual([200, ciphertext]);
      expect(before.secret).not.toBe(ciphertext);
      const again = (await world.snapshots.read()).get("note n-ann") ?? "";
      expect(again).not.toContain(ciphertext);
    });

    it("of a cloned record gets new ciphertext", async () => {
      const { status, json } = await send("POST", "/api/notes/n-ann/clone");
      expect([status, json.secret]).toEqual([201, "cnrysecret.ann"]);
      const rows = await world.snapshots.read();
      const stored = ["n-ann", json.id].map((id) => /k1:[A-Za-z0-9+/=]+/.exec(rows.get(`note ${id}`) ?? "")?.[0]);
      expect(new Set(stored).size).toBe(2);
      expect(stored).not.toContain(undefined);
    });
  });

  describe("an empty flag", () => {
    it("is toggled to true", async () => {
      expect((await send("GET", "/api/notes/n-ann")).json.pinned).toBeNull();
      expect((await send("POST", "/api/notes/n-ann/toggle-pinned")).json).toEqual({ pinned: true });
      expect((await send("POST", "/api/notes/n-ann/toggle-pinned")).json).toEqual({ pinned: false });
    });
  });
});

const [, openSqlite] = FUZZ_DATABASES.find(([name]) => name === "SQLite") ?? expect.fail("there is no SQLite");

describe("hostile connections", () => {
  let world: FuzzWorld;
  beforeAll(async () => {
    world = await openWorld(openSqlite);
  });
  afterAll(() => world?.close());
  beforeEach(() => world.snapshots.restore());
  const { request, expectRefused } = callersOf(() => world);

  describe.each(HOSTS)("over %s,", (host) => {
    it("a body of 100 MB is refused by its length, before any of it is sent", async () => {
      const lines = headLines({ caller: "ann", method: "POST", target: "/api/posts" });
      const head = joinLines([...lines, "Content-Type: application/json", "Content-Length: 104857600"]);
      const socket = connect(world.ports[host], "127.0.0.1").on("error", () => {});
      socket.write(head);
      const [answer] = await once(socket, "data");
      socket.destroy();
      expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
      expect(String(answer)).toMatch(/^connection: close\r$/im);
    });

    it("an endless body is refused when it exceeds the limit", async () => {
      const lines = headLines({ caller: "ann", method: "POST", target: "/api/posts" });
      const head = joinLines([...lines, "Content-Type: application/json", "Transfer-Encoding: chunked"]);
      const { answer, written } = await sendEndlessly(world.ports[host], head, () =>
        Buffer.from(`8000\r\n${" ".repeat(0x8000)}\r\n`),
      );
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(written).toBeGreaterThan(MIB);
    });

    it("a hundred clients with unfinished headers or bodies do not block other callers", async () => {
      const halves = Array.from({ length: 100 }, (_, index) =>
        index % 2 === 0
          ? "GET /api/posts HTTP/1.1\r\nHost: fuz"
          : `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"te`,
      );
      const sockets = halves.map((half) =>
        connect(world.ports[host], "127.0.0.1")
          .on("error", () => {})
          .on("connect", function (this: ReturnType<typeof connect>) {
            this.write(half);
          }),
      );
      await Promise.all(sockets.map((socket) => once(socket, "connect")));
      try {
        const { status, json } = await ask(world, request("GET", "/api/posts"), host);
        expect([status, json.length]).toEqual([200, 6]);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    });

    it.each(["null", "http://evil.invalid", "*"])("the origin %s is allowed nothing", async (origin) => {
      for (const method of ["GET", "OPTIONS"]) {
        const headers = [
          `Origin: ${origin}`,
          "Access-Control-Request-Method: DELETE",
          "Access-Control-Request-Headers: authorization",
        ];
        const { status, headers: answered } = await ask(world, { ...request(method, "/api/posts"), headers }, host);
        expect(status).toBe(method === "GET" ? 200 : 204);
        expect([...answered.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
        expect(answered.get("vary")).toContain("Origin");
      }
    });

    it("proxy headers, and headers that name another method or path, change no response", async () => {
      const headers = [
        "X-Forwarded-Host: evil.invalid",
        "X-Forwarded-Proto: javascript",
        "X-Forwarded-Prefix: /evil",
        "Forwarded: host=evil.invalid",
      ].concat([
        "X-Original-URL: /api/notes",
        "X-Rewrite-URL: /api/notes",
        "X-HTTP-Method-Override: DELETE",
        "X-HTTP-Method: DELETE",
        "X-Method-Override: DELETE",
      ]);
      for (const target of ["/api/posts?_limit=1", "/api/posts/p-ann"]) {
        const [plain, dressed] = [
          await ask(world, request("GET", target), host),
          await ask(world, { ...request("GET", target), headers }, host),
        ];
        const comparable = ({ status, json, headers: all }: typeof plain) => [
          status,
          json,
          all.get("link"),
          all.get("etag"),
        ];
        expect(comparable(dressed)).toEqual(comparable(plain));
      }
      const created = await ask(world, { ...request("POST", "/api/posts", '{"title":"A title"}'), headers }, host);
      expect(created.headers.get("location")).toBe(`/api/posts/${created.json.id}`);
      expect((await ask(world, request("GET", "/api/posts/p-ann"), host)).status).toBe(200);
    });

    it("two If-Match lines are one list, and two Authorization lines are anonymous", async () => {
      const { headers: read } = await ask(world, request("GET", "/api/posts/p-ann"), host);
      const tag = `If-Match: ${read.get("etag")}`;
      const write = (...headers: readonly string[]) =>
        ask(world, { ...request("PATCH", "/api/posts/p-ann", '{"views":1}'), headers }, host);
      expect((await write('If-Match: "999"', 'If-Match: "998"')).status).toBe(412);
      expect((await write('If-Match: "999"', tag)).status).toBe(200);
      await expectRefused(
        { ...request("PATCH", "/api/posts/p-ann", '{"views":1}'), headers: ["Authorization: Bearer x"] },
        401,
        host,
      );
    });
  });
});

/** Sends a header, and pieces of a body until the server has answered and closed. */
async function sendEndlessly(
  port: number,
  head: Buffer,
  piece: () => Buffer,
): Promise<{ answer: string; written: number }> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  let answer = "";
  let written = 0;
  let isOver = false;
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
  socket.on("close", () => (isOver = true));
  const closed = once(socket, "close");
  await once(socket, "connect");
  socket.write(head);
  while (!isOver && answer === "") {
    const bytes = piece();
    written += bytes.length;
    if (!socket.write(bytes)) await Promise.race([once(socket, "drain"), once(socket, "data"), closed]);
    else await new Promise((resolve) => setImmediate(resolve));
  }
  socket.end();
  await closed;
  return { answer, written };
}
