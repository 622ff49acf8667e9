import { describe, expectTypeOf, it } from "vitest";
import type { AnyEntity, InferSelect, InferSort, InferWhere } from "../../src/entity/index.ts";
import type { EntityClient, Where } from "../../src/gate/index.ts";
import { keelson } from "../../src/keelson.ts";
import { type Post, post, profile, tag, type User, user } from "./blog.ts";

type PostWhere = InferWhere<typeof post>;
type UserWhere = InferWhere<typeof user>;
const makeApp = () => keelson({ entities: [user, profile, post, tag] });

describe("conditions", () => {
  it("use fields, keys and timestamps, with the operators of their types", () => {
    expectTypeOf<{ title: "a" }>().toExtend<PostWhere>();
    expectTypeOf<{ title: { like: string; ne: null }; id: { in: string[] } }>().toExtend<PostWhere>();
    expectTypeOf<{ views: { gte: 1; lt: 9 }; rating: null }>().toExtend<PostWhere>();
    expectTypeOf<{ authorId: string[]; editedBy: { null: true } }>().toExtend<PostWhere>();
    expectTypeOf<{ published: true; publishedAt: { gt: Date } }>().toExtend<PostWhere>();
    expectTypeOf<{ meta: null; settings: { null: false } }>().toExtend<PostWhere>();
    expectTypeOf<{ role: "reader"; createdAt: Date }>().toExtend<UserWhere>();
    expectTypeOf<{ role: ("reader" | "writer")[] }>().toExtend<UserWhere>();
    expectTypeOf<{ role: { like: "read" } }>().toExtend<UserWhere>();
  });

  it("refuse fields that do not exist, and those that callers never see", () => {
    expectTypeOf<{ nope: 1 }>().not.toExtend<PostWhere>();
    expectTypeOf<{ password: "x" }>().not.toExtend<UserWhere>();
    expectTypeOf<{ apiToken: "x" }>().not.toExtend<UserWhere>();
    expectTypeOf<{ createdAt: Date }>().not.toExtend<InferWhere<typeof tag>>();
    const where: PostWhere = { title: "a" };
    // @ts-expect-error there is no such field
    const other: PostWhere = { title: "a", nope: 1 };
    expectTypeOf(where).toEqualTypeOf(other);
  });

  it("refuse values of another type, and operators that the type does not have", () => {
    expectTypeOf<{ title: 1 }>().not.toExtend<PostWhere>();
    expectTypeOf<{ views: "1" }>().not.toExtend<PostWhere>();
    expectTypeOf<{ views: { gte: "1" } }>().not.toExtend<PostWhere>();
    expectTypeOf<{ views: { like: "1" } }>().not.toExtend<PostWhere>();
    expectTypeOf<{ published: { gt: true } }>().not.toExtend<PostWhere>();
    expectTypeOf<{ publishedAt: "2024-05-31" }>().not.toExtend<PostWhere>();
    expectTypeOf<{ publishedAt: { starts: "2024" } }>().not.toExtend<PostWhere>();
    expectTypeOf<{ settings: { theme: "dark" } }>().not.toExtend<PostWhere>();
    expectTypeOf<{ role: "admin" }>().not.toExtend<UserWhere>();
    expectTypeOf<{ role: "admin"[] }>().not.toExtend<UserWhere>();
    expectTypeOf<{ title: undefined }>().not.toExtend<PostWhere>();
    // @ts-expect-error there is no such operator
    const where: PostWhere = { title: { lik: "a" } };
    expectTypeOf(where).toExtend<PostWhere>();
  });

  it("follow relations, and AND, OR and NOT", () => {
    expectTypeOf<{ author: { name: { like: "ann" }; profile: { bio: null } }; editor: null }>().toExtend<PostWhere>();
    expectTypeOf<{ tags: { name: "a" }; parent: { views: 1 }; replies: { title: "b" } }>().toExtend<PostWhere>();
    expectTypeOf<{ OR: [{ views: 1 }, { NOT: { author: { name: "a" } } }] }>().toExtend<PostWhere>();
    expectTypeOf<{ AND: [{ views: 1 }]; NOT: [{ views: 2 }] }>().toExtend<PostWhere>();
    expectTypeOf<{ author: { name: 1 } }>().not.toExtend<PostWhere>();
    expectTypeOf<{ author: { password: "x" } }>().not.toExtend<PostWhere>();
    expectTypeOf<{ author: { posts: { views: "1" } } }>().not.toExtend<PostWhere>();
    expectTypeOf<{ OR: [{ views: "1" }] }>().not.toExtend<PostWhere>();
    expectTypeOf<{ OR: { views: 1 } }>().not.toExtend<PostWhere>();
    expectTypeOf<{ NOT: { views: "1" } }>().not.toExtend<PostWhere>();
  });

  it("of the system may use hidden fields, also of related records", () => {
    const { user: users, post: posts } = makeApp().asSystem();
    const { user: own } = makeApp().as({ id: "u1" });
    void users.list({ where: { apiToken: "t", password: { ne: null } } });
    void posts.count({ author: { apiToken: "t" } });
    // @ts-expect-error there is no such field
    void users.count({ apiTokens: "t" });
    // @ts-expect-error only the system sees them
    void own.count({ apiToken: "t" });
    // @ts-expect-error only the system sees them
    void own.list({ where: { apiToken: "t" } });
  });

  it("of an entity without types are not checked", () => {
    expectTypeOf<InferWhere<AnyEntity>>().toEqualTypeOf<{ readonly [name: string]: unknown }>();
    expectTypeOf<Where>().toExtend<Parameters<EntityClient<AnyEntity>["count"]>[0]>();
  });
});

describe("the sort of a list", () => {
  it("uses sortable fields, in either direction", () => {
    expectTypeOf<InferSort<typeof tag>>().toEqualTypeOf<"id" | "name" | "-id" | "-name">();
    expectTypeOf<"-createdAt" | "views" | "authorId">().toExtend<InferSort<typeof post>>();
    expectTypeOf<"meta">().not.toExtend<InferSort<typeof post>>();
    expectTypeOf<"-settings">().not.toExtend<InferSort<typeof post>>();
    expectTypeOf<"author">().not.toExtend<InferSort<typeof post>>();
    expectTypeOf<"password">().not.toExtend<InferSort<typeof user>>();
    expectTypeOf<InferSort<AnyEntity>>().toEqualTypeOf<string>();
    const { post: posts } = makeApp().asSystem();
    void posts.list({ sort: ["-createdAt", "title"] });
    // @ts-expect-error there is no such field
    void posts.list({ sort: ["-nope"] });
  });
});

describe("a selection", () => {
  it("keeps the id and the selected fields of a record", () => {
    const { post: posts } = makeApp().as({ id: "u1" });
    const one = posts.get("p1", { select: ["title", "views"] });
    expectTypeOf(one).resolves.toExtend<Pick<Post, "id" | "title" | "views">>();
    const list = posts.list({ select: ["title"] });
    expectTypeOf(list.then(({ data }) => data[0]?.title)).resolves.toEqualTypeOf<string | undefined>();
    expectTypeOf(list.then(({ data }) => data[0]?.id)).resolves.toEqualTypeOf<string | undefined>();
    // @ts-expect-error not selected
    void one.then(({ rating }) => rating);
    // @ts-expect-error not selected
    void list.then(({ data }) => data[0]?.views);
  });

  it("can be combined with included relations", () => {
    const one = makeApp()
      .asSystem()
      .post.get("p1", { select: ["title"], include: ["author"] });
    expectTypeOf(one.then(({ author }) => author)).resolves.toEqualTypeOf<User | null>();
    expectTypeOf(one.then(({ title }) => title)).resolves.toEqualTypeOf<string>();
    // @ts-expect-error not selected
    void one.then(({ authorId }) => authorId);
  });

  it("contains fields that callers see", () => {
    expectTypeOf<InferSelect<typeof tag>>().toEqualTypeOf<"id" | "name">();
    expectTypeOf<"password">().not.toExtend<InferSelect<typeof user>>();
    expectTypeOf<"author">().not.toExtend<InferSelect<typeof post>>();
    const { post: posts } = makeApp().asSystem();
    // @ts-expect-error there is no such field
    void posts.get("p1", { select: ["nope"] });
  });
});

describe("includes with options", () => {
  const client = () => makeApp().as({ id: "u" });

  it("add the records and fields in their options", () => {
    const one = client().user.get("u1", {
      include: { posts: { limit: 3, sort: ["-views"], select: ["title"], count: true, include: { tags: true } } },
    });
    expectTypeOf(one.then(({ posts }) => posts[0]?.title)).resolves.toEqualTypeOf<string | undefined>();
    expectTypeOf(one.then(({ posts }) => posts[0]?.tags[0]?.name)).resolves.toEqualTypeOf<string | undefined>();
    expectTypeOf(one.then(({ _count }) => _count.posts)).resolves.toEqualTypeOf<number>();
    // @ts-expect-error not selected
    void one.then(({ posts }) => posts[0]?.views);
  });

  it("refuse relations, fields and options that do not exist", () => {
    // @ts-expect-error there is no such relation
    void client().user.list({ include: { nope: true } });
    // @ts-expect-error there is no such field
    void client().user.list({ include: { posts: { select: ["nope"] } } });
    // @ts-expect-error there is no such option
    void client().user.list({ include: { posts: { size: 3 } } });
  });
});

describe("aggregates", () => {
  it("return the requested groups and measures", () => {
    const rows = makeApp()
      .as({ id: "u" })
      .post.aggregate({ group: ["authorId", "month(publishedAt)"], count: true, sum: ["views"], max: ["publishedAt"] });
    type Row = Awaited<typeof rows>[number];
    expectTypeOf<Row["authorId"]>().toEqualTypeOf<string>();
    expectTypeOf<Row["month(publishedAt)"]>().toEqualTypeOf<string | null>();
    expectTypeOf<Row["count"]>().toEqualTypeOf<number>();
    expectTypeOf<Row["sum"]["views"]>().toEqualTypeOf<number | null>();
    expectTypeOf<Row["max"]["publishedAt"]>().toEqualTypeOf<Date | null>();
  });

  it("refuse fields that do not exist", () => {
    const { post: posts } = makeApp().as({ id: "u" });
    // @ts-expect-error there is no such field
    void posts.aggregate({ sum: ["nope"] });
    // @ts-expect-error a number has no month
    void posts.aggregate({ group: ["month(views)"] });
  });
});
