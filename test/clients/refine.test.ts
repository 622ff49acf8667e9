import dataProvider from "@refinedev/simple-rest";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Blog, serveBlog } from "./blog.ts";

let blog: Blog;
let provider: ReturnType<typeof dataProvider>;
beforeAll(async () => {
  blog = await serveBlog();
  provider = dataProvider(blog.url);
});
afterAll(() => blog.close());

interface Post {
  readonly id: string;
  readonly title: string;
  readonly views: number;
  readonly published: boolean;
}

describe("@refinedev/simple-rest, unmodified", () => {
  it("lists, sorts, pages and counts", async () => {
    const { data, total } = await provider.getList<Post>({
      resource: "posts",
      pagination: { currentPage: 2, pageSize: 10 },
      sorters: [
        { field: "published", order: "desc" },
        { field: "views", order: "asc" },
      ],
    });
    expect([data.map(({ views }) => views), total]).toEqual([[210, 230, 250, 270, 290, 20, 40, 60, 80, 100], 30]);
  });

  it("lists everything at once when pages are off", async () => {
    expect((await provider.getList({ resource: "posts", pagination: { mode: "off" } })).data).toHaveLength(30);
  });

  it.each([
    [[{ field: "published", operator: "eq", value: true }], 15],
    [[{ field: "authorId", operator: "ne", value: "ann" }], 10],
    [
      [
        { field: "views", operator: "gte", value: 100 },
        { field: "views", operator: "lte", value: 200 },
      ],
      11,
    ],
    [[{ field: "title", operator: "contains", value: "post 1" }], 10],
    [[{ field: "id", operator: "in", value: ["post-01", "post-02"] }], 2],
    [[{ field: "q", operator: "eq", value: "30" }], 1],
  ] as const)("filters by %j", async (filters, expected) => {
    expect((await provider.getList({ resource: "posts", filters: [...filters] as never })).total).toBe(expected);
  });

  it("gets one, and many by id", async () => {
    expect((await provider.getOne<Post>({ resource: "posts", id: "post-07" })).data.title).toBe("Post 07");
    const ids = Array.from({ length: 30 }, (_, i) => `post-${String(i + 1).padStart(2, "0")}`);
    expect((await provider.getMany?.({ resource: "posts", ids }))?.data).toHaveLength(30);
  });

  it("gets what refers to a record", async () => {
    const filters = [{ field: "postId", operator: "eq", value: "post-01" } as const];
    expect(
      (await provider.getList({ resource: "comments", filters, pagination: { currentPage: 3, pageSize: 5 } })).data,
    ).toHaveLength(2);
  });

  it("creates, updates with PATCH and deletes", async () => {
    const variables = { title: "Written by a client", authorId: "ann" };
    const { id } = (await provider.create<Post, typeof variables>({ resource: "posts", variables })).data;
    const updated = (
      await provider.update<Post, { views: number }>({ resource: "posts", id: id as string, variables: { views: 5 } })
    ).data;
    expect(updated).toMatchObject({ id, title: "Written by a client", views: 5 });
    expect(
      (await provider.deleteOne<Post, object>({ resource: "posts", id: id as string, variables: {} })).data,
    ).toMatchObject({ id });
    await expect(provider.getOne({ resource: "posts", id: id as string })).rejects.toMatchObject({
      statusCode: 404,
      message: "Not found",
    });
  });

  it("updates and deletes many, one by one as its hooks do", async () => {
    const create = (title: string) =>
      provider.create<Post, object>({ resource: "posts", variables: { title, authorId: "bob" } });
    const ids = (await Promise.all(["One", "Two"].map(create))).map(({ data }) => data.id as string);
    await Promise.all(ids.map((id) => provider.update({ resource: "posts", id, variables: { published: true } })));
    expect(
      (await provider.getMany?.<Post>({ resource: "posts", ids }))?.data.map(({ published }) => published),
    ).toEqual([true, true]);
    await Promise.all(ids.map((id) => provider.deleteOne({ resource: "posts", id })));
    expect((await provider.getMany?.({ resource: "posts", ids }))?.data).toEqual([]);
  });

  it("shows the message of an error", async () => {
    const variables = { title: "x", authorId: "ann" };
    await expect(provider.create({ resource: "posts", variables })).rejects.toMatchObject({
      statusCode: 400,
      message: "Validation failed",
    });
  });
});
