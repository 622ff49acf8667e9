import { belongsTo, bulkUpdateAction, cloneAction, entity, importAction, memoryDriver, string, text } from "keelson";
import { createTestApp } from "keelson/testing";
import { afterAll, describe, expect, it } from "vitest";
import { type Slugs, slug, slugs } from "../src/index.ts";

const author = entity("author", { name: string, slug: slug({ from: "name", separator: "_" }) }).rules({
  read: ["everyone"],
  create: ["admin"],
});
const post = entity("post", {
  title: string.trim(),
  body: text.optional(),
  slug: slug(),
  author: belongsTo(() => author).optional(),
})
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["authenticated"] })
  .actions({ clone: cloneAction(), bulk: bulkUpdateAction(), import: importAction() });
/** The slug follows its title, and editors may choose it. */
const page = entity("page", { title: string, slug: slug({ follow: true, writable: "admin", maxLength: 16 }) })
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["authenticated"] })
  .actions({ clone: cloneAction(), bulk: bulkUpdateAction() });
const draft = entity("draft", { title: string, slug: slug().readable("admin") }).rules({
  read: ["authenticated"],
  create: ["authenticated"],
});

const app = createTestApp({ entities: [author, post, page, draft], driver: memoryDriver(), plugins: [slugs()] });
afterAll(() => app.close());

const ann = app.as({ id: "ann" });
const root = app.as({ id: "root", role: "admin" });
const anonymous = app.as(null);

async function create(path: string, data: object, caller = ann): Promise<Record<string, string>> {
  const { status, body } = await caller.request("POST", `/api${path}`, data);
  expect(status, JSON.stringify(body)).toBe(201);
  return body as Record<string, string>;
}

describe("a new record", () => {
  it.each([
    ["Hello, World!", "hello-world"],
    ["  Crème brûlée: it's ready ", "creme-brulee-its-ready"],
    ["Ångström & Łódź", "angstrom-łodz"],
    ["Привет, мир", "привет-мир"],
    ["हिन्दी भाषा", "हिन्दी-भाषा"],
    ["10.5 ways", "10-5-ways"],
  ])("gets a slug made from its title: %j", async (title, expected) => {
    expect((await create("/posts", { title })).slug).toBe(expected);
  });

  it("gets a number behind the slug when another record has it, and the entity's name when there is no word", async () => {
    const slugsOf = async (title: string) => [
      (await create("/posts", { title })).slug,
      (await create("/posts", { title })).slug,
      (await create("/posts", { title })).slug,
    ];
    expect(await slugsOf("Twice")).toEqual(["twice", "twice-2", "twice-3"]);
    expect(await slugsOf("?!")).toEqual(["post", "post-2", "post-3"]);
  });

  it("keeps to the length and the separator of its field, the number included", async () => {
    const title = "Abcdefgh ijklmnopqrst";
    expect((await create("/pages", { title })).slug).toBe("abcdefgh-ijklmno");
    expect((await create("/pages", { title })).slug).toBe("abcdefgh-ijklm-2");
    expect((await create("/authors", { name: "Ada Lovelace" }, root)).slug).toBe("ada_lovelace");
  });

  it("has one of its own when many are created at once", async () => {
    const made = await Promise.all(Array.from({ length: 30 }, () => create("/posts", { title: "Rush hour" })));
    expect(new Set(made.map((one) => one.slug)).size).toBe(30);
    expect(made.every((one) => /^rush-hour(-\w+)?$/.test(one.slug as string))).toBe(true);
  });
});

describe("a slug", () => {
  it("is not the caller's to write", async () => {
    const made = await create("/posts", { title: "Mine", slug: "chosen" });
    expect(made.slug).toBe("mine");
    const changed = await ann.request("PATCH", `/api/posts/${made.id}`, { slug: "chosen" });
    expect(changed.body).toMatchObject({ slug: "mine" });
  });

  it("stays when the title changes, so that links go on working", async () => {
    const { id } = await create("/posts", { title: "Before" });
    const { body } = await ann.request("PATCH", `/api/posts/${id}`, { title: "After" });
    expect(body).toMatchObject({ title: "After", slug: "before" });
  });

  it("follows the title where its field says so, unless nothing of it would change", async () => {
    await create("/pages", { title: "Taken" });
    const { id } = await create("/pages", { title: "One" });
    const rename = async (title: string) => (await ann.request("PATCH", `/api/pages/${id}`, { title })).body;
    expect(await rename("Two")).toMatchObject({ slug: "two" });
    expect(await rename("Taken")).toMatchObject({ slug: "taken-2" });
    expect(await rename("Taken!")).toMatchObject({ slug: "taken-2" });
    expect(await rename("One")).toMatchObject({ slug: "one" });
  });

  it("may be chosen by callers who may write the field, and must be a slug then", async () => {
    expect((await create("/pages", { title: "Any", slug: "no" }, ann)).slug).toBe("any");
    expect((await create("/pages", { title: "Any", slug: "imprint" }, root)).slug).toBe("imprint");
    const wrong = await root.request("POST", "/api/pages", { title: "Any", slug: "About Us" });
    expect(wrong).toMatchObject({ status: 400, body: { errors: { slug: 'must be a slug, such as "about-us"' } } });
    const { id } = await create("/pages", { title: "Other" });
    const taken = await root.request("PATCH", `/api/pages/${id}`, { slug: "imprint" });
    expect(taken).toMatchObject({ status: 409, body: { errors: { slug: "is already taken" } } });
    const renew = async () => (await root.request("PATCH", `/api/pages/${id}`, { slug: "~" })).body;
    expect([await renew(), await renew()]).toMatchObject([{ slug: "other" }, { slug: "other" }]);
  });
});

describe("actions", () => {
  it("clone with a slug of its own, also for those who may write it", async () => {
    const { id } = await create("/posts", { title: "Original" });
    expect((await create(`/posts/${id}/clone`, {})).slug).toBe("original-2");
    const { id: pageId } = await create("/pages", { title: "Sheet" }, root);
    expect((await create(`/pages/${pageId}/clone`, {}, root)).slug).toBe("sheet-2");
  });

  it("import rows with the same title, each with a slug of its own", async () => {
    const rows = ["Row", "Row", "Row", "Other row"].map((title) => ({ title }));
    expect((await ann.request("POST", "/api/posts/import", rows)).body).toMatchObject({ created: 4, failed: [] });
    const { body } = await anonymous.request("GET", "/api/posts?title_like=row&_sort=slug&select=slug");
    expect((body as { slug: string }[]).map((one) => one.slug)).toEqual(["other-row", "row", "row-2", "row-3"]);
  });

  it("change many records, each of which follows with a slug of its own", async () => {
    const ids = [(await create("/pages", { title: "A1" })).id, (await create("/pages", { title: "A2" })).id];
    const { body } = await ann.request("PUT", "/api/pages/bulk", { ids, data: { title: "Both" } });
    expect(body).toEqual({ count: 2 });
    const { data } = await app.api.asSystem().page.list({ where: { title: "Both" }, sort: ["slug"] });
    expect(data.map((one) => one.slug)).toEqual(["both", "both-2"]);
  });
});

describe("GET /:entities/by-slug/:slug", () => {
  it("gives the record, with what the query asks for, or 404", async () => {
    const { id: authorId } = await create("/authors", { name: "Ursula" }, root);
    const { id } = await create("/posts", { title: "Always Coming Home", authorId });
    const found = await anonymous.request("GET", "/api/posts/by-slug/always-coming-home?include=author&select=title");
    expect(found).toMatchObject({ status: 200, body: { id, title: "Always Coming Home", author: { name: "Ursula" } } });
    expect((await anonymous.request("GET", "/api/posts/by-slug/never")).status).toBe(404);
    expect((await anonymous.request("GET", "/api/posts?slug=always-coming-home")).body).toMatchObject([{ id }]);
  });

  it("asks the rules of reading, and hides what the field's mask hides", async () => {
    const { slug: hidden } = await create("/drafts", { title: "Secret plan" });
    expect(hidden).toBeUndefined();
    const path = "/api/drafts/by-slug/secret-plan";
    const statuses = [anonymous, ann, root].map(async (caller) => (await caller.request("GET", path)).status);
    expect(await Promise.all(statuses)).toEqual([401, 404, 200]);
  });

  it("is documented", async () => {
    const { body } = await anonymous.request("GET", "/openapi.json");
    expect(body).toMatchObject({
      paths: {
        "/api/posts/by-slug/{slug}": { get: { operationId: "readPostBySlug", summary: "Read post by its slug" } },
      },
    });
  });
});

describe("the service slugs", () => {
  it("fills records that have no slug yet", async () => {
    const note = entity("note", { title: string, slug: slug().optional() }).rules({ read: ["everyone"] });
    const driver = memoryDriver({ note: [1, 2, 3].map(() => ({ title: "Old", slug: null })) });
    const old = createTestApp({ entities: [note], driver, plugins: [slugs()] });
    const service = old.api.resolve<Slugs>("slugs");
    expect(await service.fill()).toBe(3);
    expect(await service.fill()).toBe(0);
    const { data } = await old.api.asSystem().note.list({ sort: ["slug"] });
    expect(data.map((one) => one.slug)).toEqual(["old", "old-2", "old-3"]);
    expect([service.preview("note", "Old Times"), service.preview("nothing", "x")]).toEqual(["old-times", undefined]);
    await old.close();
  });
});
