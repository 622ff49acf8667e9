import jsonServerProvider from "ra-data-json-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Blog, ID_KINDS, serveBlog } from "./blog.ts";

const FIRST = { page: 1, perPage: 10 };
const BY_ID = { field: "id", order: "ASC" } as const;
const titles = (records: readonly { title?: string }[]): (string | undefined)[] => records.map(({ title }) => title);

describe.each(ID_KINDS)("ra-data-json-server, unmodified, with ids of the kind %s", (kind) => {
  let blog: Blog;
  let provider: ReturnType<typeof jsonServerProvider>;
  beforeAll(async () => {
    blog = await serveBlog(kind);
    provider = jsonServerProvider(blog.url);
  });
  afterAll(() => blog.close());

  it("lists, sorts, pages and counts", async () => {
    const { data, total } = await provider.getList("posts", {
      pagination: { page: 2, perPage: 10 },
      sort: { field: "views", order: "DESC" },
      filter: {},
    });
    expect(titles(data)).toEqual(Array.from({ length: 10 }, (_, i) => `Post ${20 - i}`));
    expect(total).toBe(30);
  });

  it("filters by value, operator, relation and text", async () => {
    const list = async (filter: object): Promise<number | undefined> =>
      (await provider.getList("posts", { pagination: FIRST, sort: BY_ID, filter })).total;
    expect(await list({ published: true })).toBe(15);
    expect(await list({ views_gte: 100, views_lt: 200 })).toBe(10);
    expect(await list({ authorId: [blog.ann, blog.bob] })).toBe(30);
    expect(await list({ author: { name_like: "bo" } })).toBe(10);
    expect(await list({ q: "post 0" })).toBe(9);
  });

  it("exports a thousand records at once, as its export button does", async () => {
    const { data } = await provider.getList("posts", {
      pagination: { page: 1, perPage: 1_000 },
      sort: BY_ID,
      filter: {},
    });
    expect(data).toHaveLength(30);
  });

  it("embeds related records", async () => {
    const { data } = await provider.getList("posts", {
      pagination: { page: 1, perPage: 1 },
      sort: BY_ID,
      filter: {},
      meta: { embed: ["author", "comments"] },
    });
    expect(data[0]).toMatchObject({ author: { name: "Ann" } });
    expect(data[0]?.comments).toHaveLength(12);
    expect(
      (await provider.getOne("posts", { id: blog.posts[29] as string, meta: { embed: "author" } })).data,
    ).toMatchObject({
      author: { name: "Bob" },
    });
  });

  it("gets one, and many by id", async () => {
    expect((await provider.getOne("posts", { id: blog.posts[6] as string })).data).toMatchObject({
      id: blog.posts[6],
      title: "Post 07",
    });
    const ids = [...blog.posts] as string[];
    expect((await provider.getMany("posts", { ids })).data).toHaveLength(30);
    expect(titles((await provider.getMany("posts", { ids: [blog.posts[2] as string, blog.gone] })).data)).toEqual([
      "Post 03",
    ]);
  });

  it("gets the records that refer to a record", async () => {
    const params = {
      target: "postId",
      id: blog.posts[0] as string,
      pagination: { page: 2, perPage: 5 },
      sort: { field: "text", order: "ASC" } as const,
      filter: {},
    };
    const { data, total } = await provider.getManyReference("comments", params);
    expect([data.map(({ text }) => text as string), total]).toEqual([
      ["Comment 06", "Comment 07", "Comment 08", "Comment 09", "Comment 10"],
      12,
    ]);
  });

  it("creates, updates with the whole record, and deletes", async () => {
    const created = (
      await provider.create("posts", { data: { ...blog.ids(), title: "Written by a client", authorId: blog.ann } })
    ).data;
    expect(created).toMatchObject({ id: expect.anything(), title: "Written by a client", views: 0 });
    const updated = (
      await provider.update("posts", { id: created.id, data: { ...created, title: "Changed" }, previousData: created })
    ).data;
    expect(updated).toMatchObject({ id: created.id, title: "Changed", authorId: blog.ann });
    expect((await provider.delete("posts", { id: created.id, previousData: updated })).data).toMatchObject({
      id: created.id,
    });
    await expect(provider.getOne("posts", { id: created.id })).rejects.toMatchObject({ status: 404 });
  });

  it("sends back a record with its embedded ones", async () => {
    const { data } = await provider.getOne("posts", {
      id: blog.posts[0] as string,
      meta: { embed: "author,comments" },
    });
    const updated = (
      await provider.update("posts", { id: blog.posts[0] as string, data: { ...data, views: 11 }, previousData: data })
    ).data;
    expect(updated).toMatchObject({ views: 11, authorId: blog.ann });
  });

  it("updates and deletes many", async () => {
    const ids = await Promise.all(
      ["One", "Two"].map(
        async (title) =>
          (await provider.create("posts", { data: { ...blog.ids(), title, authorId: blog.bob } })).data.id,
      ),
    );
    expect((await provider.updateMany("posts", { ids, data: { published: true } })).data).toEqual(ids);
    expect((await provider.getMany("posts", { ids })).data.map(({ published }) => published as boolean)).toEqual([
      true,
      true,
    ]);
    expect((await provider.deleteMany("posts", { ids })).data).toEqual(ids);
    expect((await provider.getMany("posts", { ids })).data).toEqual([]);
  });

  it("shows messages at the fields they are about", async () => {
    await expect(
      provider.create("posts", { data: { ...blog.ids(), title: "x", authorId: blog.ann } }),
    ).rejects.toMatchObject({
      status: 400,
      message: "Validation failed",
      body: { errors: { title: "must be at least 3 characters" } },
    });
  });
});
