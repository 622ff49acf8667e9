import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { User } from "../../../src/index.ts";
import { ADMIN, ANN, type Ask, BOB, DATABASES, idsOf, openArchive, short } from "./soft-delete-library.ts";

type Archive = Awaited<ReturnType<typeof openArchive>>;

const EVERYBODY = "user post tag profile comment".split(" ").reverse();

describe.each(DATABASES)("soft deletion on %s", (_name, open) => {
  let app: Archive["app"];
  let ask: Ask;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    const database = await open();
    remove = database.remove;
    ({ app, ask } = await openArchive(database.driver));
  });
  beforeEach(async () => {
    const { driver } = app.api;
    for (const name of EVERYBODY) if (name !== "user") await driver.deleteMany(name, { id: { null: false } });
    await driver.updateMany("user", { id: { null: false } }, { deletedAt: null });
  });
  afterAll(async () => {
    await app.close();
    await remove();
  });

  async function create(who: User, path: string, data: object): Promise<string> {
    const { status, body } = await ask(who, "POST", path, data);
    expect(status).toBe(201);
    return (body as { id: string }).id;
  }

  /** Ann's live and deleted posts, and a deleted post of bob. */
  async function plant() {
    const live = await create(ANN, "/posts", { title: "live" });
    const gone = await create(ANN, "/posts", { title: "gone" });
    const bobs = await create(BOB, "/posts", { title: "bobs" });
    expect((await ask(ANN, "DELETE", `/posts/${gone}/soft`)).status).toBe(200);
    expect((await ask(BOB, "DELETE", `/posts/${bobs}/soft`)).status).toBe(200);
    return { live, gone, bobs };
  }

  describe("a deleted record", () => {
    it("is left out of lists, totals, counts and exports", async () => {
      const { live } = await plant();
      const list = await ask(ADMIN, "GET", "/posts");
      expect([idsOf(list), list.headers.get("x-total-count")]).toEqual([[live], "1"]);
      expect((await ask(ADMIN, "GET", "/posts/count")).body).toEqual({ count: 1 });
      expect(idsOf(await ask(ADMIN, "GET", "/posts/export"))).toEqual([live]);
    });

    it("is left out of every page, filter and search", async () => {
      const { live, gone } = await plant();
      const later = await create(ANN, "/posts", { title: "live, too" });
      const page = await ask(ANN, "GET", "/posts?_limit=1");
      const cursor = page.headers.get("x-next-cursor") as string;
      const next = await ask(ANN, "GET", `/posts?_limit=5&_after=${encodeURIComponent(cursor)}`);
      expect([...idsOf(page), ...idsOf(next)].sort()).toEqual([live, later].sort());
      expect(idsOf(await ask(ANN, "GET", "/posts?q=gone"))).toEqual([]);
      expect(idsOf(await ask(ANN, "GET", `/posts?id=${gone}`))).toEqual([]);
      expect(idsOf(await ask(ANN, "GET", "/posts?deletedAt_null=false"))).toEqual([]);
    });

    it("is missing for reads, writes and actions, also of owners, admins and the system", async () => {
      const { gone } = await plant();
      const path = `/posts/${gone}`;
      for (const who of [ANN, ADMIN]) {
        expect((await ask(who, "GET", path)).status).toBe(404);
        expect((await ask(who, "PATCH", path, { title: "new" })).status).toBe(404);
        expect((await ask(who, "DELETE", path)).status).toBe(404);
        expect((await ask(who, "POST", `${path}/clone`)).status).toBe(404);
        expect((await ask(who, "GET", `${path}/exists`)).body).toEqual({ exists: false });
      }
      await expect(app.api.asSystem().post.get(gone)).rejects.toMatchObject({ status: 404 });
      await expect(app.api.asSystem().post.update(gone, { title: "new" })).rejects.toMatchObject({ status: 404 });
      await expect(app.api.asSystem().post.delete(gone)).rejects.toMatchObject({ status: 404 });
      expect(await app.api.asSystem().post.count({ id: gone })).toBe(0);
    });

    it("is missing alike for callers who may write and who may not", async () => {
      const { gone } = await plant();
      expect((await ask(BOB, "PATCH", `/posts/${gone}`, { title: "new" })).status).toBe(404);
      expect((await ask(null, "PATCH", `/posts/${gone}`, { title: "new" })).status).toBe(401);
    });

    it("is missing for actions on deleted records if the caller may not use them", async () => {
      const { gone } = await plant();
      for (const [method, action] of [
        ["DELETE", "soft"],
        ["POST", "restore"],
      ] as const)
        for (const id of [gone, "unknown"])
          expect([id, (await ask(BOB, method, `/posts/${id}/${action}`)).status]).toEqual([id, 404]);
    });

    it("is skipped by bulk actions and not counted", async () => {
      const { live, gone } = await plant();
      const body = { ids: [live, gone], data: { title: "bulk" } };
      expect((await ask(ANN, "PUT", "/posts/bulk", body)).body).toEqual({ count: 1 });
      expect((await ask(ANN, "DELETE", "/posts/bulk", { ids: [live, gone] })).body).toEqual({ count: 1 });
      expect(await app.api.driver.findOne("post", { id: gone })).toMatchObject({ title: "gone" });
    });

    it("is visible to the driver, which applies no rules", async () => {
      const { gone } = await plant();
      expect(await app.api.driver.findOne("post", { id: gone })).toMatchObject({ deletedAt: expect.any(Date) });
    });
  });

  describe("?_deleted", () => {
    // Per caller: the results of with, only and no option: live and gone (ann's), bobs (bob's, deleted).
    const MATRIX: readonly (readonly [string, User | null, readonly string[] | number, readonly string[] | number])[] =
      [
        ["the owner", ANN, ["live", "gone"], ["gone"]],
        ["another owner", BOB, ["live", "bobs"], ["bobs"]],
        ["an admin", ADMIN, ["live", "gone", "bobs"], ["gone", "bobs"]],
        ["somebody without deleted records", { id: "eve" }, ["live"], []],
        ["nobody", null, 401, 401],
      ];
    it.each(MATRIX)("shows %s the records that they may restore", async (_who, user, both, deleted) => {
      const ids = await plant();
      const named = (names: readonly string[] | number): unknown =>
        typeof names === "number" ? names : names.map((name) => ids[name as keyof typeof ids]).sort();
      const count = (names: readonly string[] | number): unknown =>
        typeof names === "number" ? undefined : { count: names.length };
      expect(short(await ask(user, "GET", "/posts?_deleted=with"))).toEqual(named(both));
      expect(short(await ask(user, "GET", "/posts?_deleted=only"))).toEqual(named(deleted));
      expect(short(await ask(user, "GET", "/posts"))).toEqual([ids.live]);
      expect(short(await ask(user, "GET", "/posts/export?_deleted=with"))).toEqual(named(both));
      expect(short(await ask(user, "GET", "/posts/export?_deleted=only"))).toEqual(named(deleted));
      if (typeof both !== "number" && typeof deleted !== "number") {
        expect((await ask(user, "GET", "/posts/count?_deleted=with")).body).toEqual(count(both));
        expect((await ask(user, "GET", "/posts/count?_deleted=only")).body).toEqual(count(deleted));
      }
      for (const name of ["live", "gone", "bobs"] as const) {
        const status = async (word: string): Promise<number> =>
          (await ask(user, "GET", `/posts/${ids[name]}?_deleted=${word}`)).status;
        const expected = (names: readonly string[] | number): number =>
          typeof names === "number" ? names : names.includes(name) ? 200 : 404;
        expect([await status("with"), await status("only")]).toEqual([expected(both), expected(deleted)]);
      }
    });

    it("follows the rules of the restore action if it has any", async () => {
      const id = await create(ANN, "/tags", { name: "red" });
      expect((await ask(ANN, "DELETE", `/tags/${id}/soft`)).status).toBe(200);
      expect((await ask(ANN, "PATCH", `/tags/${id}`, { name: "blue" })).status).toBe(404);
      for (const path of [`/tags?_deleted=with`, `/tags?_deleted=only`, `/tags/${id}?_deleted=with`])
        expect([(await ask(ANN, "GET", path)).status, (await ask(null, "GET", path)).status]).toEqual([403, 401]);
      expect((await ask(ANN, "GET", "/tags/count?_deleted=only")).status).toBe(403);
      expect(idsOf(await ask(ADMIN, "GET", "/tags?_deleted=only"))).toEqual([id]);
      expect((await ask(ANN, "POST", `/tags/${id}/restore`)).status).toBe(403);
      expect((await ask(ADMIN, "POST", `/tags/${id}/restore`)).status).toBe(200);
      expect(idsOf(await ask(null, "GET", "/tags"))).toEqual([id]);
    });

    it("works with a list's filters, sorts and includes, which hide deleted records", async () => {
      const { gone } = await plant();
      const tag = await create(ANN, "/tags", { name: "red" });
      await app.api.driver.link("post", "tags", gone, [tag]);
      await ask(ANN, "DELETE", `/tags/${tag}/soft`);
      const found = await ask(ANN, "GET", "/posts?_deleted=with&title=gone&_sort=-title&include=author,tags");
      expect(found.body).toMatchObject([{ id: gone, author: { id: "ann" }, tags: [] }]);
    });

    it("is kept in the links to other pages", async () => {
      await plant();
      const { headers } = await ask(ADMIN, "GET", "/posts?_deleted=with&_page=1&_limit=1");
      expect(headers.get("x-total-count")).toBe("3");
      expect(headers.get("link")).toContain("_deleted=with&_page=2");
    });

    it("is refused with other values, on writes, and where it has no meaning", async () => {
      const { live } = await plant();
      const status = async (method: string, path: string, body?: object): Promise<number> =>
        (await ask(ADMIN, method, path, body)).status;
      expect(await status("GET", "/posts?_deleted=true")).toBe(400);
      expect(await status("GET", "/posts?_deleted=with&_deleted=only")).toBe(400);
      expect(await status("GET", "/comments?_deleted=with")).toBe(400);
      expect(await status("PATCH", `/posts/${live}?_deleted=with`, { title: "new" })).toBe(400);
      expect(await status("DELETE", `/posts/${live}?_deleted=with`)).toBe(400);
      expect(await status("POST", "/posts?_deleted=with", { title: "new" })).toBe(400);
      const { body } = await ask(ADMIN, "GET", "/comments?_deleted=with");
      expect((body as { message: string }).message).toBe('Unknown parameter "_deleted".');
    });

    it("is `deleted` in the process, where the system sees all requested records", async () => {
      const { live, gone, bobs } = await plant();
      const ids = async (
        client: ReturnType<typeof app.api.asSystem>,
        deleted?: "with" | "only",
      ): Promise<readonly string[]> => (await client.post.list({ deleted })).data.map(({ id }) => id).sort();
      const system = app.api.asSystem();
      expect(await ids(system)).toEqual([live]);
      expect(await ids(system, "with")).toEqual([live, gone, bobs].sort());
      expect(await ids(system, "only")).toEqual([gone, bobs].sort());
      expect(await app.api.as(ANN).post.get(gone, { deleted: "with" })).toMatchObject({ id: gone });
      await expect(app.api.as(BOB).post.get(gone, { deleted: "with" })).rejects.toMatchObject({ status: 404 });
      await expect(app.api.as(ANN).tag.list({ deleted: "only" })).rejects.toMatchObject({ status: 403 });
      await expect(ids(system, "all" as "with")).rejects.toMatchObject({ status: 400 });
      const exported = async (client: typeof system.post): Promise<readonly unknown[]> =>
        (await client.export({ deleted: "only" })).map(({ id }) => id).sort();
      expect(await exported(system.post)).toEqual([gone, bobs].sort());
      expect(await exported(app.api.as(ANN).post)).toEqual([gone]);
      expect(await exported(app.api.as(BOB).post)).toEqual([bobs]);
    });
  });

  describe("related records", () => {
    it("that are deleted are null or absent in includes", async () => {
      const { live } = await plant();
      const tags = [await create(ANN, "/tags", { name: "red" }), await create(ANN, "/tags", { name: "blue" })] as const;
      await ask(ANN, "PATCH", `/posts/${live}`, { tagsIds: tags });
      await ask(ANN, "DELETE", `/tags/${tags[0]}/soft`);
      const text = await create(ANN, "/comments", { text: "first", postId: live });
      const profile = await create(ANN, "/profiles", { bio: "old", userId: "ann" });

      const read = async (path: string): Promise<unknown> => (await ask(BOB, "GET", path)).body;
      expect(await read(`/posts/${live}?include=tags`)).toMatchObject({ tags: [{ id: tags[1] }] });
      expect(await read("/users/ann?include=posts,profile")).toMatchObject({
        posts: [{ id: live }],
        profile: { id: profile },
      });
      await ask(ANN, "DELETE", `/profiles/${profile}/soft`);
      await ask(ANN, "DELETE", `/posts/${live}/soft`);
      expect(await read("/users/ann?include=posts,profile")).toMatchObject({ posts: [], profile: null });
      expect(await read(`/comments/${text}?include=post`)).toMatchObject({ postId: live, post: null });
      expect(await app.api.asSystem().comment.get(text, { include: ["post"] })).toMatchObject({ post: null });
      expect(await app.api.asSystem().user.get("ann", { include: ["posts"] })).toMatchObject({ posts: [] });
    });

    it("that are deleted do not match filters, not even the system's", async () => {
      const { live, gone } = await plant();
      const [first, second] = [
        await create(ANN, "/comments", { text: "first", postId: live }),
        await create(ANN, "/comments", { text: "second" }),
      ];
      await app.api.driver.update("comment", { id: second }, { postId: gone });
      const system = app.api.asSystem();
      const ids = async (where: object): Promise<readonly string[]> =>
        (await system.comment.list({ where })).data.map(({ id }) => id).sort();
      expect(idsOf(await ask(BOB, "GET", "/comments?post.title_ne=nothing"))).toEqual([first]);
      expect(idsOf(await ask(BOB, "GET", "/comments?post.title=gone"))).toEqual([]);
      expect(await ids({ post: { title: { ne: "nothing" } } })).toEqual([first]);
      expect(await ids({ post: null })).toEqual([second]);
      expect(await ids({ NOT: { post: { title: "live" } } })).toEqual([second]);
      expect(await ids({ text: "second" })).toEqual([second]);
      await expect(ids({ post: { nothing: 1 } })).rejects.toMatchObject({ status: 400 });
      const authors = (query: string) => ask(BOB, "GET", `/users?${query}`);
      expect(idsOf(await authors("posts.title_starts=go"))).toEqual([]);
      expect(idsOf(await authors("posts.title_starts=li"))).toEqual(["ann"]);
    });

    it("of a to-one relation are the live one, also after earlier ones", async () => {
      const old = await create(ANN, "/profiles", { bio: "old", userId: "ann" });
      await ask(ANN, "DELETE", `/profiles/${old}/soft`);
      const current = await create(ANN, "/profiles", { bio: "new", userId: "ann" });
      expect((await ask(BOB, "GET", "/users/ann?include=profile")).body).toMatchObject({ profile: { id: current } });
      const users = async (query: string): Promise<readonly string[]> =>
        idsOf(await ask(BOB, "GET", `/users?${query}`));
      expect(await users("profile.bio=new")).toEqual(["ann"]);
      expect(await users("profile.bio=old")).toEqual([]);
      const without = await app.api.as(BOB).user.list({ where: { profile: null } });
      expect(without.data.map(({ id }) => id).sort()).toEqual(["bob", "root"]);
    });
  });

  describe("references", () => {
    it("to a deleted record are refused like those to a missing one", async () => {
      const { gone } = await plant();
      const [deleted, missing] = [
        await ask(ANN, "POST", "/comments", { text: "x", postId: gone }),
        await ask(ANN, "POST", "/comments", { text: "x", postId: "nope" }),
      ];
      const { requestId: _a, ...first } = deleted.body as Record<string, unknown>;
      const { requestId: _b, ...second } = missing.body as Record<string, unknown>;
      expect([deleted.status, first]).toEqual([400, second]);
    });

    it("in lists of ids are refused, and links to deleted records survive a new list", async () => {
      const red = await create(ANN, "/tags", { name: "red" });
      const blue = await create(ANN, "/tags", { name: "blue" });
      const id = await create(ANN, "/posts", { title: "tagged", tagsIds: [red, blue] });
      await ask(ANN, "DELETE", `/tags/${red}/soft`);
      expect((await ask(ANN, "POST", "/posts", { title: "new", tagsIds: [red] })).status).toBe(400);
      expect((await ask(ANN, "PATCH", `/posts/${id}`, { tagsIds: [] })).status).toBe(200);
      expect(await app.api.driver.links("post", "tags", [id])).toEqual([{ source: id, target: red }]);
    });

    it("that are already stored may be sent back", async () => {
      const { live } = await plant();
      const id = await create(ANN, "/comments", { text: "first", postId: live });
      await ask(ANN, "DELETE", `/posts/${live}/soft`);
      expect((await ask(ANN, "PATCH", `/comments/${id}`, { text: "second", postId: live })).status).toBe(200);
    });
  });

  describe("unique values", () => {
    it("of deleted records are free; restoring a record with a taken value conflicts", async () => {
      const old = await create(ANN, "/posts", { title: "old", slug: "s" });
      expect((await ask(ANN, "POST", "/posts", { title: "twin", slug: "s" })).status).toBe(409);
      await ask(ANN, "DELETE", `/posts/${old}/soft`);
      const current = await create(BOB, "/posts", { title: "new", slug: "s" });
      expect((await ask(ANN, "POST", `/posts/${old}/restore`)).status).toBe(409);
      expect((await ask(ANN, "GET", `/posts/${old}?_deleted=only`)).status).toBe(200);
      const again = await ask(ANN, "POST", "/posts", { title: "third", slug: "s" });
      expect([again.status, (again.body as { errors: object }).errors]).toEqual([409, { slug: expect.any(String) }]);
      await ask(BOB, "DELETE", `/posts/${current}/soft`);
      expect((await ask(ANN, "POST", `/posts/${old}/restore`)).status).toBe(200);
      expect((await ask(BOB, "POST", `/posts/${current}/restore`)).status).toBe(409);
    });

    it("of several columns, and of a one-to-one key, are free too", async () => {
      const first = await create(ANN, "/posts", { title: "a", shelf: "s", place: 1 });
      expect((await ask(ANN, "POST", "/posts", { title: "b", shelf: "s", place: 1 })).status).toBe(409);
      await ask(ANN, "DELETE", `/posts/${first}/soft`);
      await create(ANN, "/posts", { title: "b", shelf: "s", place: 1 });
      expect((await ask(ANN, "POST", `/posts/${first}/restore`)).status).toBe(409);
      const profile = await create(ANN, "/profiles", { bio: "a", userId: "ann" });
      expect((await ask(ANN, "POST", "/profiles", { bio: "b", userId: "ann" })).status).toBe(409);
      await ask(ANN, "DELETE", `/profiles/${profile}/soft`);
      await create(ANN, "/profiles", { bio: "b", userId: "ann" });
      expect((await ask(ANN, "POST", `/profiles/${profile}/restore`)).status).toBe(409);
    });

    it("go to exactly one of many parallel restores", async () => {
      const ids: string[] = [];
      for (let i = 0; i < 8; i++) {
        ids.push(await create(ANN, "/posts", { title: `t${i}`, slug: "race" }));
        await ask(ANN, "DELETE", `/posts/${ids[i]}/soft`);
      }
      const answers = await Promise.all(ids.map((id) => ask(ANN, "POST", `/posts/${id}/restore`)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
      expect(await app.api.as(ANN).post.count({ slug: "race" })).toBe(1);
    });
  });

  describe("the field", () => {
    it("is written by the actions only", async () => {
      const at = "2020-01-01T00:00:00.000Z";
      const created = await ask(ANN, "POST", "/posts", { title: "mine", deletedAt: at });
      expect([created.status, created.body]).toMatchObject([201, { deletedAt: null }]);
      const { id } = created.body as { id: string };
      const changed = await ask(ADMIN, "PATCH", `/posts/${id}`, { title: "still mine", deletedAt: at });
      expect([changed.status, changed.body]).toMatchObject([200, { title: "still mine", deletedAt: null }]);
      const [first, second] = [
        await ask(ANN, "DELETE", `/posts/${id}/soft`),
        await app.api.driver.findOne("post", { id }),
        await ask(ANN, "DELETE", `/posts/${id}/soft`),
      ];
      expect([first.status, first.body]).toEqual([200, { success: true }]);
      expect(await app.api.driver.findOne("post", { id })).toEqual(second);
      expect((await ask(ANN, "POST", `/posts/${id}/restore`)).body).toEqual({ success: true });
      expect((await ask(ANN, "GET", `/posts/${id}`)).body).toMatchObject({ deletedAt: null });
    });

    it("may be set by the system on create", async () => {
      const { id } = await app.api.asSystem().post.create({ title: "old", authorId: "ann", deletedAt: new Date() });
      expect((await ask(ANN, "GET", `/posts/${id}`)).status).toBe(404);
      expect((await ask(ANN, "POST", `/posts/${id}/restore`)).status).toBe(200);
    });
  });

  it("is changed by the rules of these actions alone", async () => {
    const { live, gone } = await plant();
    expect((await ask(BOB, "DELETE", `/posts/${live}/soft`)).status).toBe(403);
    expect((await ask(BOB, "POST", `/posts/${gone}/restore`)).status).toBe(404);
    expect((await ask(null, "POST", `/posts/${gone}/restore`)).status).toBe(401);
    expect((await ask(BOB, "POST", "/posts/nope/restore")).status).toBe(404);
    expect(idsOf(await ask(BOB, "GET", "/posts"))).toEqual([live]);
  });

  it("does not change DELETE of live records", async () => {
    const { live } = await plant();
    expect((await ask(ANN, "DELETE", `/posts/${live}`)).status).toBe(200);
    expect(await app.api.driver.findOne("post", { id: live })).toBeNull();
  });
});
