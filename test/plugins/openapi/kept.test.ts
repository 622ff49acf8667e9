import fc from "fast-check";
import {
  belongsTo,
  createPlugin,
  defineRule,
  endpoint,
  entity,
  type KeelsonConfig,
  keelson,
  memoryDriver,
  noopLogger,
  type Rule,
  string,
} from "keelson";
import { openapiDocument } from "keelson/openapi";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RouteReader } from "../../../src/gate/index.ts";
import { deferred } from "../../support/deferred.ts";
import { startApp } from "../../support/http.ts";
import { propertyOptions } from "../../support/properties.ts";

const USERS: Readonly<Record<string, { readonly id: string; readonly role?: string }>> = {
  ann: { id: "ann" },
  bob: { id: "bob" },
  boss: { id: "boss", role: "admin" },
};

const note = entity("note", { text: string, secret: string.optional().readable("admin") }).rules({
  read: ["everyone"],
  create: ["authenticated"],
  delete: ["admin"],
});

/** An app with one public endpoint, with the given description. `Bearer ann` is Ann. */
function open(describe: (reader: RouteReader) => string | Promise<string>, config: Partial<KeelsonConfig> = {}) {
  let described = 0;
  const extra = createPlugin({
    id: "extra",
    endpoints: {
      extra: endpoint("/extra", {
        rules: ["everyone"],
        handler: () => "here",
        async describe(reader) {
          described += 1;
          return { summary: await describe(reader) };
        },
      }),
    },
  });
  const api = keelson({
    entities: [note],
    driver: memoryDriver(),
    logger: noopLogger,
    production: false,
    getUser: ({ headers }) => USERS[headers.get("authorization")?.replace("Bearer ", "") ?? ""] ?? null,
    ...config,
    plugins: [extra],
  });
  onTestFinished(() => api.close());
  const get = async (who = "", headers: Record<string, string> = {}, path = "/openapi.json", signal?: AbortSignal) => {
    const response = await api.fetch(
      new Request(`http://shop.example${path}`, {
        headers: { ...(who === "" ? {} : { authorization: `Bearer ${who}` }), ...headers },
        ...(signal === undefined ? {} : { signal }),
      }),
    );
    const text = await response.text();
    const etag = response.headers.get("etag") ?? "";
    return { status: response.status, headers: response.headers, text, etag };
  };
  return { api, get, described: () => described };
}

const summaryOf = (text: string): unknown => JSON.parse(text).paths["/extra"].get.summary;

describe("a document", () => {
  it("is generated once for all readers with the same rights, and differs for others", async () => {
    const { get, described } = open(() => "Extra");
    const names = ["ann", "boss", "", "bob", "ann", "boss", ""];
    const answers = await Promise.all(names.map((name) => get(name)));
    const [ann, boss, nobody, bob] = answers.map(({ text }) => text);
    expect(bob).toBe(ann);
    expect(new Set([ann, boss, nobody]).size).toBe(3);
    expect([ann, nobody].filter((text) => text?.includes("secret_like"))).toEqual([]);
    expect(boss?.includes("secret_like")).toBe(true);
    expect(described()).toBe(3);
    expect((await get("boss", {}, "/openapi.json?as=public")).text).toBe(nobody);
    expect(described()).toBe(3);
  });

  it("is not sent again to a reader who has it", async () => {
    const { get } = open(() => "Extra");
    const [ann, boss] = [await get("ann"), await get("boss")];
    expect(ann.headers.get("cache-control")).toBe("private, no-cache");
    expect(ann.headers.get("vary")).toContain("Authorization");
    for (const tags of [ann.etag, `W/${ann.etag}`, `"other", ${ann.etag}`, "*"]) {
      const again = await get("bob", { "if-none-match": tags });
      expect([again.status, again.text, again.etag]).toEqual([304, "", ann.etag]);
    }
    for (const tags of [boss.etag, '"other"', ann.etag.slice(1, -1), ""])
      expect((await get("ann", { "if-none-match": tags })).status).toBe(200);
  });

  it("changes as soon as a rule decides differently", async () => {
    let isOpen = false;
    const flag = defineRule("kept-flag", () => isOpen);
    const door = entity("door", { text: string.readable(flag) }).rules({ read: ["everyone"], create: [flag] });
    const { get } = open(() => "Extra", { entities: [door] });
    const closed = await get("ann");
    expect(closed.text).not.toMatch(/"text"|createDoor/);
    isOpen = true;
    const opened = await get("ann", { "if-none-match": closed.etag });
    expect(opened.status).toBe(200);
    expect(opened.text).toContain('"text"');
    expect(opened.text).toContain("createDoor");
    isOpen = false;
    expect((await get("ann")).text).toBe(closed.text);
  });

  it("is generated per reader if a description reads the user, in any way", async () => {
    const ways: Readonly<Record<string, (reader: RouteReader) => unknown>> = {
      user: ({ scope }) => scope.principal.user?.id,
      "all of the principal": ({ scope }) => JSON.stringify(scope.principal),
      services: ({ scope }) => scope.services.resolve<{ id: string } | null>("currentUser")?.id,
      request: ({ scope }) => scope.exchange?.request.headers.authorization,
      "a decision about one record": async ({ scope }) =>
        (await scope.access.decide({ kind: "read", entity: "note", id: "n1" })).allowed && scope.requestId,
    };
    for (const [way, look] of Object.entries(ways)) {
      const { get, described } = open(async (reader) => `For ${await look(reader)}`);
      const first = await Promise.all(["ann", "bob", "ann", "bob"].map((name) => get(name)));
      const again = [await get("ann"), await get("bob")];
      const told = [...first, ...again].map(({ text }) => String(summaryOf(text)));
      expect([way, described()]).toEqual([way, 6]);
      if (way.startsWith("a decision")) expect(new Set(told).size).toBe(6);
      else
        for (const [index, text] of told.entries())
          expect([way, text]).toEqual([way, expect.stringContaining(index % 2 === 0 ? "ann" : "bob")]);
    }
  });

  it("depends on the rules that descriptions evaluate", async () => {
    const allowed = new Set(["ann"]);
    const listed = defineRule("kept-listed", ({ user }) => allowed.has(String(user?.id)));
    const { get, described } = open(
      async ({ scope }) => {
        const { predicate, ...decision } = await scope.access
          .decide({ kind: "delete", entity: "note", rules: ["kept-listed"] })
          .catch(({ code }) => ({ allowed: code, predicate: undefined }));
        return `${decision.allowed} ${predicate}`;
      },
      { rules: [listed] } as never,
    );
    const said = async (who: string) => summaryOf((await get(who)).text);
    for (const round of [1, 2]) {
      expect([round, await said("ann")]).toEqual([round, "true undefined"]);
      expect([round, await said("bob")]).toEqual([round, "FORBIDDEN undefined"]);
    }
    expect(described()).toBe(2);
    allowed.add("bob");
    expect(await said("bob")).toBe("true undefined");
    expect(described()).toBe(2);
  });

  it("depends on them also for readers who wait for the very first one", async () => {
    const listed = defineRule("kept-waiting", ({ user }) => user?.id === "ann");
    const gate = deferred<void>();
    const { get, described } = open(
      async ({ scope }) => {
        await gate.promise;
        const asked = scope.access.decide({ kind: "delete", entity: "note", rules: ["kept-waiting"] });
        return `${await asked.then(({ allowed }) => allowed).catch(({ code }) => code)}`;
      },
      { rules: [listed] } as never,
    );
    const answers = Promise.all(["ann", "bob", "ann", "bob"].map((name) => get(name)));
    for (let others = 0; others < 10; others++) await get("", {}, "/extra"); // by then all four wait
    gate.resolve();
    const told = (await answers).map(({ text }) => summaryOf(text));
    expect(told).toEqual(["true", "FORBIDDEN", "true", "FORBIDDEN"]);
    expect(described()).toBe(2);
  });

  it("equals that of a fresh app, after any other requests", async () => {
    // Each depends on another fact, so that documents differ in that fact alone.
    const flags = ["read", "create", "update", "readable", "writable", "related"] as const;
    const [read, create, update, readable, writable, related] = flags.map((flag) =>
      defineRule(`kept-${flag}`, ({ user }) => (user?.flags as readonly string[] | undefined)?.includes(flag) === true),
    ) as [Rule, Rule, Rule, Rule, Rule, Rule];
    const make = () => {
      const two = entity("two", { text: string.writable(writable), shy: string.readable(readable) });
      const inner = entity("inner", { text: string });
      const one = entity("one", { text: string, two: belongsTo(() => two) });
      return keelson({
        entities: [
          one.rules({ read: ["everyone"], create: [create] }),
          two.rules({ read: ["everyone"], update: [update] }),
          entity("three", { text: string, inner: belongsTo(() => inner) }).rules({
            read: [read],
            update: ["everyone"],
          }),
          inner.internal().rules({ read: [related] }), // no route shows which callers may read it
        ],
        driver: memoryDriver(),
        logger: noopLogger,
      });
    };
    const used = make();
    onTestFinished(() => used.close());
    const reader = fc.option(fc.record({ id: fc.constantFrom("ann", "bob"), flags: fc.subarray([...flags]) }), {
      nil: "public" as const,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(reader, { minLength: 2, maxLength: 5 }), async (readers) => {
        const documents = await Promise.all(readers.map((as) => openapiDocument(used, { as })));
        for (const [index, as] of readers.entries()) {
          const fresh = make();
          expect(documents[index]).toEqual(await openapiDocument(fresh, { as }));
          await fresh.close();
        }
      }),
      propertyOptions(20),
    );
  });

  it("may be modified by the in-process caller who requested it", async () => {
    const { api } = open(() => "Extra");
    const first = await openapiDocument(api);
    const text = JSON.stringify(first);
    delete (first as { paths?: object }).paths;
    expect(JSON.stringify(await openapiDocument(api))).toBe(text);
    expect((await openapiDocument(api, { info: { title: "Other" } })).info.title).toBe("Other");
    expect((await openapiDocument(api)).info.title).toBe("API");
  });
});

describe("many readers at once", () => {
  it("block neither each other nor other requests", async () => {
    const gate = deferred<void>();
    const { api, described } = open(async () => {
      await gate.promise;
      return "Extra";
    });
    const server = await startApp(api);
    const asked = Array.from({ length: 150 }, (_, index) =>
      fetch(`${server.url}/openapi.json`, { headers: index % 2 === 0 ? {} : { authorization: "Bearer ann" } }),
    );
    expect((await fetch(`${server.url}/api/notes`)).status).toBe(200);
    gate.resolve();
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(described()).toBe(2);
    await server.close();
  });

  it("are refused when too many of them need their own document", async () => {
    const gate = deferred<void>();
    const { get } = open(async ({ scope }) => {
      await gate.promise;
      return `For ${scope.principal.user?.id}`;
    });
    gate.resolve();
    await get("ann"); // this is unknown until their descriptions run
    const answers = await Promise.all(Array.from({ length: 100 }, () => get("ann")));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map(({ status, headers }) => `${status} ${headers.get("retry-after")}`))).toEqual(
      new Set(["503 2"]),
    );
    expect((await get("ann")).status).toBe(200);
  });

  it("do not wait for a description that never ends", async () => {
    const { get } = open(({ scope }) => (scope.principal.kind === "user" ? new Promise(() => {}) : "Extra"), {
      limits: { hookMs: 50 },
    });
    const [ann, nobody] = await Promise.all([get("ann"), get()]);
    expect([ann.status, JSON.parse(ann.text).code, nobody.status]).toEqual([503, "UNAVAILABLE", 200]);
  });

  it("get theirs even if the first reader has disconnected, or was refused", async () => {
    let calls = 0;
    const { get } = open(() => {
      calls += 1;
      if (calls === 1) throw new TypeError("not this time");
      return "Extra";
    });
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => get("ann")))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...Array(19).fill(200), 500]);
    expect(calls).toBe(2);
  });
});
