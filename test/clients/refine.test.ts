import dataProvider from "@refinedev/simple-rest";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Blog, ID_KINDS, serveBlog } from "./blog.ts";

interface Post {
  readonly id: string;
  readonly title: string;
  readonly views: number;
  readonly published: boolean;
}

describe.each(ID_KINDS)("@refinedev/simple-rest, unmodified, with ids of the kind %s", (kind) => {
  let blog: Blog;
  let provider: ReturnType<typeof dataProvider>;
  beforeAll(async () => {
    blog = await serveBlog(kind);
    provider = dataProvider(blog.url);
  });
  afterAll(() => blog.close());

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
    ["published", "eq", (): unknown => true, 15],
    ["authorId", "ne", (): unknown => blog.ann, 10],
    ["views", "gte", (): unknown => 100, 21],
    ["title", "contains", (): unknown => "post 1", 10],
    ["id", "in", (): unknown => blog.posts.slice(0, 2), 2],
    ["q", "eq", (): unknown => "30", 1],
  ] as const)("filters by %s %s", async (field, operator, value, expected) => {
    const filters = [{ field, operator, value: value() }];
    expect((await provider.getList({ resource: "posts", filters: filters as never })).total).toBe(expected);
  });

  it("filters by several conditions on one field", async () => {
    const filters = [
      { field: "views", operator: "gte", value: 100 },
      { field: "views", operator: "lte", value: 200 },
    ] as const;
    expect((await provider.getList({ resource: "posts", filters: [...filters] })).total).toBe(11);
  });

  it("gets one, and many by id", async () => {
    expect((await provider.getOne<Post>({ resource: "posts", id: blog.posts[6] as string })).data.title).toBe(
      "Post 07",
    );
    const ids = [...blog.posts] as string[];
    expect((await provider.getMany?.({ resource: "posts", ids }))?.data).toHaveLength(30);
  });

  it("gets the records that refer to a record", async () => {
    const filters = [{ field: "postId", operator: "eq", value: blog.posts[0] as string } as const];
    expect(
      (await provider.getList({ resource: "comments", filters, pagination: { currentPage: 3, pageSize: 5 } })).data,
    ).toHaveLength(2);
  });

  it("creates, updates with PATCH and deletes", async () => {
    const variables = { ...blog.ids(), title: "Written by a client", authorId: blog.ann };
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
      provider.create<Post, object>({ resource: "posts", variables: { ...blog.ids(), title, authorId: blog.bob } });
    const ids = (await Promise.all(["One", "Two"].map(create))).map(({ data }) => data.id as string);
    await Promise.all(ids.map((id) => provider.update({ resource: "posts", id, variables: { published: true } })));
    expect(
      (await provider.getMany?.<Post>({ resource: "posts", ids }))?.data.map(({ published }) => published),
    ).toEqual([true, true]);
    await Promise.all(ids.map((id) => provider.deleteOne({ resource: "posts", id })));
    expect((await provider.getMany?.({ resource: "posts", ids }))?.data).toEqual([]);
  });

  it("shows the message of an error", async () => {
    const variables = { title: "x", authorId: blog.ann };
    await expect(provider.create({ resource: "posts", variables })).rejects.toMatchObject({
      statusCode: 400,
      message: "Validation failed",
    });
  });
});
