import { admin, belongsTo, entity, memoryDriver, string } from "keelson";
import { createPlugin, endpoint, type Plugin, QueryParser } from "keelson/plugin";
import { createFakeKernel, type FakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { accounts } from "../../src/plugins/accounts/index.ts";
import { batch } from "../../src/plugins/batch/index.ts";
import { crud } from "../../src/plugins/crud/index.ts";
import { query } from "../../src/plugins/query/index.ts";
import { relations } from "../../src/plugins/relations/index.ts";
import { rules } from "../../src/plugins/rules/index.ts";
import { search } from "../../src/plugins/search/index.ts";
import { studio } from "../../src/plugins/studio/index.ts";
import { validation } from "../../src/plugins/validation/index.ts";
import { foldersIn, sourceFiles } from "../support/source-files.ts";

const author = entity("author", { name: string.min(2) }).timestamps(false);
const post = entity("post", {
  title: string.max(10).searchable(),
  note: string.default("none").optional(),
  author: belongsTo(() => author).optional(),
})
  .timestamps(false)
  .rules({ read: ["everyone"], create: [admin], update: [admin], delete: [admin] });

interface Case {
  readonly plugin: () => Plugin;
  readonly seen: Partial<FakeKernel["seen"]>;
  /** What it does without any other plugin. */
  works(kernel: FakeKernel): Promise<void>;
  readonly given?: readonly [string, unknown];
}

const ann = { id: "ann" };
const stored = { id: "p1", title: "Dune", note: "none", authorId: "a1" };
const NOTHING = { services: [], hooks: [], routes: [], requires: [], provides: [], problems: [] };
const probe = createPlugin({
  id: "acme/probe",
  endpoints: {
    parse: endpoint("/parse", {
      rules: ["everyone"],
      async handler({ scope, search: text }) {
        const parse = scope.services.resolve(QueryParser).reads(["filter", "page"]);
        return parse(text, post.build(), scope);
      },
    }),
  },
});

const CASES: Readonly<Record<string, Case>> = {
  accounts: {
    plugin: () => accounts({ baseUrl: "http://shop.example", secret: "a secret that is long enough to sign with" }),
    seen: { services: [], hooks: [], requires: ["rules"], problems: [] },
    async works(kernel) {
      expect(kernel.model.get("session")).toBeDefined();
      expect(kernel.seen.routes).toContain("POST /auth/sign-in/email");
      expect((await kernel.call("GET", "/auth/get-session")).status).toBe(200);
    },
  },
  batch: {
    plugin: () => batch(),
    seen: { ...NOTHING, routes: ["POST /batch"], requires: ["rules"] },
    async works(kernel) {
      expect((await kernel.call("POST", "/batch", { body: {} })).status).toBe(400);
      const strange = await kernel.call("POST", "/batch", { body: [{ method: "POST", path: "/nowhere", body: {} }] });
      expect(strange.status).toBe(404);
      expect(kernel.recorded.statements).toEqual([]);
    },
  },
  crud: {
    plugin: () => crud(),
    given: ["query", { reads: () => async () => ({ limit: 1 }), describe: async () => [], includes: async () => [] }],
    seen: {
      ...NOTHING,
      routes: ["author", "post"]
        .flatMap((name) => [
          `DELETE /${name}s/:id`,
          `GET /${name}s`,
          `GET /${name}s/:id`,
          `GET /${name}s/aggregate`,
          `PATCH /${name}s/:id`,
          `POST /${name}s`,
          `PUT /${name}s`,
          `PUT /${name}s/:id`,
        ])
        .sort(),
      requires: ["query", "relations", "rules", "validation"],
    },
    async works(kernel) {
      expect((await kernel.call("GET", "/posts")).body).toMatchObject([{ title: "Dune" }]);
      expect(kernel.recorded.operations).toEqual(["list post"]);
      expect((await kernel.call("DELETE", "/posts/p1")).status).toBe(200);
      expect(kernel.recorded.operations).toEqual(["list post", "delete post"]);
    },
  },
  query: {
    plugin: () => query(),
    seen: { ...NOTHING, services: ["query"] },
    async works(kernel) {
      await kernel.use(probe);
      const { status, body } = await kernel.call("GET", "/parse", { search: "title=Dune&_limit=3" });
      expect([status, body]).toMatchObject([200, { where: { title: { eq: "Dune" } }, limit: 3 }]);
      expect((await kernel.call("GET", "/parse", { search: "titel=Dune" })).status).toBe(400);
    },
  },
  relations: {
    plugin: () => relations(),
    seen: {
      ...NOTHING,
      hooks: ["operation:join", "operation:normalize", "operation:plan", "operation:protect", "operation:validate"],
    },
    async works(kernel) {
      const { records } = await kernel.operation({
        kind: "read",
        entity: post,
        id: "p1",
        query: { include: { author: {} } },
      });
      expect(records).toMatchObject([{ title: "Dune", author: { name: "Frank" } }]);
    },
  },
  rules: {
    plugin: () => rules(),
    seen: {
      ...NOTHING,
      services: ["rules.fields", "rules.lists"],
      hooks: ["operation:normalize", "route:authorize"],
      provides: ["rules"],
    },
    async works(kernel) {
      expect((await kernel.operation({ kind: "list", entity: post })).records).toHaveLength(1);
      await expect(kernel.operation({ kind: "list", entity: author })).rejects.toMatchObject({ status: 403 });
      await expect(kernel.operation({ kind: "delete", entity: post, id: "p1" })).rejects.toMatchObject({ status: 403 });
      await kernel.as({ id: "root", role: "admin" }).operation({ kind: "delete", entity: post, id: "p1" });
      expect(kernel.recorded.statements.at(-1)).toBe("delete post");
    },
  },
  search: {
    plugin: () => search(),
    seen: { ...NOTHING, hooks: ["operation:join"] },
    async works(kernel) {
      const data = { id: "p2", title: "Sand", note: null, authorId: null };
      await kernel.operation({ kind: "create", entity: post, data });
      const where = { title: { like: "and" } };
      const { records } = await kernel.operation({ kind: "list", entity: post, query: { where } });
      expect(records.map(({ id }) => id)).toEqual(["p2"]);
    },
  },
  studio: {
    plugin: () => studio(),
    seen: {
      ...NOTHING,
      routes: ["GET /studio", "GET /studio/:file", "GET /studio/app.json"],
      requires: ["rules"],
    },
    async works(kernel) {
      const { status, headers } = await kernel.call("GET", "/studio");
      expect([status, headers["content-type"]]).toEqual([200, expect.stringContaining("text/html")]);
    },
  },
  validation: {
    plugin: () => validation(),
    seen: {
      ...NOTHING,
      services: ["validation.fields"],
      hooks: ["operation:normalize", "operation:validate"],
      provides: ["validation"],
    },
    async works(kernel) {
      const create = (data: Record<string, unknown>) => kernel.operation({ kind: "create", entity: post, data });
      await expect(create({ title: "far too long for it" })).rejects.toMatchObject({ status: 400 });
      await expect(create({ title: "x", unknown: 1 })).rejects.toMatchObject({ status: 400 });
      expect(kernel.recorded.statements).toEqual([]);
      expect((await create({ title: "x" })).records).toMatchObject([{ title: "x", note: "none" }]);
    },
  },
};

describe("each plugin of this package, without the others", () => {
  it("has a test here, or in its own folder", () => {
    const elsewhere = foldersIn("src/plugins").filter(
      (name) =>
        !Object.hasOwn(CASES, name) &&
        !sourceFiles(`test/plugins/${name}`).some(({ text }) => text.includes("createFakeKernel(")),
    );
    expect(elsewhere).toEqual([]);
  });

  it.each(Object.entries(CASES))(
    "%s declares what it lists here, and works",
    async (_, { plugin, seen, works, given }) => {
      const driver = memoryDriver({ author: [{ id: "a1", name: "Frank" }], post: [stored] });
      const kernel = createFakeKernel().withEntities(author, post).withDriver(driver).as(ann);
      if (given !== undefined) kernel.given(...given);
      await kernel.use(plugin());
      expect(kernel.seen).toMatchObject(seen);
      await works(kernel);
      await kernel.close();
    },
  );
});
