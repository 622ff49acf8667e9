import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import {
  action, archiveAction, belongsTo, bool, bulkDeleteAction, bulkUpdateAction, cloneAction, countAction, datetime, embedded, entity,
  existsAction, int, noopLogger, notFoundError, postgres, restoreAction, softDeleteAction, string, toggleAction, unarchiveAction, type Driver,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";

const user = entity("user", { name: string }).ownedBy("id").rules({ read: ["everyone"] });
const post = entity("post", {
  title: string.min(2), slug: string.unique().optional(), views: int.default(0), published: bool.default(false), archived: bool.default(false),
  deletedAt: datetime.optional().readonly(), author: belongsTo(() => user),
}).ownedBy("author").rules({ read: ["everyone"], create: ["authenticated"], update: ["ownerOrAdmin"], delete: ["ownerOrAdmin"] })
  .actions({
    softDelete: softDeleteAction, restore: restoreAction(), archive: archiveAction, unarchive: unarchiveAction(), clone: cloneAction,
    bulkUpdate: bulkUpdateAction, bulkDelete: bulkDeleteAction(), toggle: toggleAction("published"), count: countAction, exists: existsAction,
    greet: action().get().query({ name: string.default("you"), n: int.optional() }).handler(({ query }) => ({ hello: query.name, n: query.n })),
    rename: action().onResource().input({ title: string.min(2) }).handler(async ({ record, input, driver }) => driver.update("post", { id: record.id }, { title: input.title })),
    gone: action().onResource().rules("admin").handler(() => { throw notFoundError(); }),
    publish: { method: "POST", path: "/:id/publish", async handler(ctx) { await ctx.driver.update(ctx.entity, { id: ctx.params.id }, { published: true }); return ctx.driver.findOne("post", { id: ctx.params.id }); } },
  });

const databases = {
  async SQLite(): Promise<{ driver: Driver; remove(): Promise<void> }> { const { file, remove } = await freshSqliteFile(); return { driver: embedded({ file }), remove }; },
  async PostgreSQL(): Promise<{ driver: Driver; remove(): Promise<void> }> { const { url, drop } = await freshPostgres(); return { driver: postgres(url), remove: drop }; },
};
describe.each(Object.entries(databases))("on %s", (_, open) => {
  let app: ReturnType<typeof make>; let db: Awaited<ReturnType<typeof open>>;
  const make = (driver: Driver) => createTestApp({ entities: [user, post], driver, logger: noopLogger });
  beforeAll(async () => { db = await open(); app = make(db.driver); await app.api.ready; for (const id of ["ann", "bob", "adm"]) await app.api.asSystem().user.create({ id, name: id }); });
  afterAll(async () => { await app.close(); await db.remove(); });
  it("works", async () => {
    const ann = app.as({ id: "ann" }); const bob = app.as({ id: "bob" });
    const mk = async (who: typeof ann, data: object) => ((await who.request("POST", "/api/posts", { title: "Title", ...data })).body as { id: string }).id;
    const a = await mk(ann, {}); const b = await mk(bob, {});
    const log: unknown[] = [];
    for (const [who, m, p, body] of [
      [ann, "DELETE", `/api/posts/${a}/soft`], [ann, "DELETE", `/api/posts/${a}/soft`], [ann, "POST", `/api/posts/${a}/restore`], [bob, "DELETE", `/api/posts/${a}/soft`], [bob, "DELETE", `/api/posts/nope/soft`],
      [ann, "POST", `/api/posts/${a}/archive`], [ann, "POST", `/api/posts/${a}/unarchive`], [ann, "POST", `/api/posts/${a}/toggle-published`], [ann, "POST", `/api/posts/${a}/toggle-published`], [bob, "POST", `/api/posts/${a}/toggle-published`],
      [bob, "POST", `/api/posts/${a}/clone`], [ann, "GET", `/api/posts/count?published=false`], [ann, "GET", `/api/posts/${a}/exists`], [ann, "GET", `/api/posts/zzz/exists`],
      [ann, "PUT", "/api/posts/bulk", { ids: [a, b, a, "x"], data: { views: 7 } }], [ann, "GET", "/api/posts/greet?n=3"], [ann, "GET", "/api/posts/greet?m=3"], [ann, "POST", `/api/posts/${a}/rename`, { title: "New" }], [ann, "POST", `/api/posts/${a}/rename`, { title: "" }],
      [ann, "POST", `/api/posts/${a}/rename`], [bob, "POST", `/api/posts/${a}/rename`, { title: "New" }], [ann, "POST", `/api/posts/${a}/publish`], [ann, "POST", `/api/posts/${a}/gone`], [app.as({ id: "adm", role: "admin" }), "POST", `/api/posts/${a}/gone`],
      [app.as(null), "POST", `/api/posts/${a}/rename`, 5], [app.as(null), "PUT", `/api/posts/bulk`, 5], [ann, "DELETE", "/api/posts/bulk", { ids: [a, b] }],
    ] as const) { const r = await who.request(m, p, body); log.push([m, p.slice(0, 50), r.status, JSON.stringify(r.body).slice(0, 200)]); }
    console.log(log.map((l) => JSON.stringify(l)).join("\n"));
    const c = await mk(ann, {});
    const client = app.api.as({ id: "ann" }).post;
    expect(await client.softDelete(c)).toEqual({ success: true });
    expect(await client.toggle(c)).toEqual({ published: true });
    expectTypeOf(await client.toggle(c)).toEqualTypeOf<{ readonly published: boolean }>();
    expect(await client.greet({ name: "x" })).toEqual({ hello: "x", n: null });
    expect(await client.rename(c, { title: "abc" })).toMatchObject({ title: "abc" });
    const s = await mk(ann, { slug: "s" });
    const clones = await Promise.all(Array.from({ length: 20 }, () => ann.request("POST", `/api/posts/${s}/clone`)));
    expect(clones.map((r) => r.status)).toEqual(Array(20).fill(409));
    const start = performance.now();
    const t = await Promise.all(Array.from({ length: 101 }, () => ann.request("POST", `/api/posts/${s}/toggle-published`)));
    expect(t.map((r) => r.status)).toEqual(Array(101).fill(200));
    console.log("toggles ms", performance.now() - start);
    expect((await ann.request("GET", `/api/posts/${s}`)).body).toMatchObject({ published: true });
  }, 60000);
});
