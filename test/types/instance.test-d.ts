import { describe, expectTypeOf, it } from "vitest";
import type {
  $Infer,
  ClientList,
  DefinitionOf,
  EntityNamesOf,
  EntityOf,
  InferAll,
  InferCreate,
  InferCreateInput,
  InferEntityData,
  InferUpdate,
  InferUpdateInput,
} from "../../src/entity/index.ts";
import { keelson } from "../../src/keelson.ts";

import { type Post, post, profile, tag, type User, user } from "./blog.ts";

const makeApp = () => keelson({ entities: [user, profile, post, tag] });
type App = ReturnType<typeof makeApp>;
type Profile = InferEntityData<typeof profile>;

describe("the types of an instance", () => {
  it("are found by entity name", () => {
    expectTypeOf<App["$Infer"]["Entities"]["post"]>().toEqualTypeOf<Post>();
    expectTypeOf<App["$Infer"]["Entities"]["user"]>().toEqualTypeOf<User>();
    expectTypeOf<App["$Infer"]["CreateInputs"]["post"]>().toEqualTypeOf<InferCreateInput<typeof post>>();
    expectTypeOf<App["$Infer"]["UpdateInputs"]["post"]>().toEqualTypeOf<InferUpdateInput<typeof post>>();
    expectTypeOf<App["$Infer"]["EntityNames"]>().toEqualTypeOf<"user" | "profile" | "post" | "tag">();
  });

  it("are found through $Infer, EntityOf and EntityNamesOf", () => {
    expectTypeOf<$Infer<App>>().toEqualTypeOf<App["$Infer"]>();
    expectTypeOf<EntityOf<App, "post">>().toEqualTypeOf<Post>();
    expectTypeOf<EntityOf<App, "nope">>().toBeNever();
    expectTypeOf<EntityNamesOf<App>>().toEqualTypeOf<"user" | "profile" | "post" | "tag">();
    expectTypeOf<$Infer<{ other: true }>>().toBeNever();
    expectTypeOf<EntityOf<{ other: true }, "post">>().toBeNever();
  });

  it("are the same for an entity's builder and its definition", () => {
    const built = user.build();
    expectTypeOf<InferAll<[typeof built]>["Entities"]>().toEqualTypeOf<InferAll<[typeof user]>["Entities"]>();
  });
});

describe("the client of an instance", () => {
  it("of a user has the entity's types as input and output", async () => {
    const client = makeApp().as({ id: "u1" });
    expectTypeOf(client.post.get("p1")).resolves.toExtend<Post>();
    expectTypeOf(client.post.list()).resolves.toExtend<ClientList<Post>>();
    expectTypeOf(client.post.create).parameter(0).toExtend<InferCreate<typeof post>>();
    expectTypeOf(client.post.update).parameter(1).toEqualTypeOf<InferUpdate<typeof post>>();
    expectTypeOf(client.post.delete("p1")).resolves.toEqualTypeOf<void>();
    // @ts-expect-error there is no such entity
    client.nope;
    // @ts-expect-error the title is missing
    void client.post.create({ views: 1 });
    // @ts-expect-error readonly fields are not for callers
    void client.post.update("p1", { slug: "a" });
  });

  it("writes related records", () => {
    const client = makeApp().as({ id: "u1" });
    void client.user.create({ name: "n", email: "e@x.yz", posts: { create: [{ title: "a" }] } } as never);
    void client.post.update("p1", {
      tags: { connect: ["t1"], create: { name: "x" } },
      author: { update: { name: "n" } },
    });
    const byName = { where: { name: "x" }, create: { name: "x" } };
    void client.post.update("p1", { tags: { connectOrCreate: [byName] } });
    // @ts-expect-error a key is compared with values, not with operators
    void client.post.update("p1", { tags: { connectOrCreate: { ...byName, where: { name: { ne: "x" } } } } });
    // @ts-expect-error a tag has a name
    void client.post.update("p1", { tags: { connectOrCreate: { ...byName, create: {} } } });
    // @ts-expect-error a tag has a name
    void client.post.update("p1", { tags: { create: [{ nope: 1 }] } });
    // @ts-expect-error there is one author
    void client.post.update("p1", { author: { connect: ["u1"] } });
    // @ts-expect-error there is no such verb
    void client.post.update("p1", { tags: { remove: ["t1"] } });
  });

  it("of the system also accepts ids, timestamps and readonly fields", () => {
    const client = makeApp().asSystem();
    expectTypeOf(client.post.update).parameter(1).toExtend<{ slug?: unknown; id?: string; createdAt?: Date }>();
    // @ts-expect-error there is no such field
    void client.post.update("p1", { nope: 1 });
  });

  it("adds the included relations", async () => {
    const client = makeApp().asSystem();
    const one = client.post.get("p1", { include: ["author", "tags"] });
    expectTypeOf(one.then(({ author }) => author)).resolves.toEqualTypeOf<User | null>();
    expectTypeOf(one.then(({ tags }) => tags)).resolves.toEqualTypeOf<{ id: string; name: string }[]>();
    const users = client.user.list({ include: ["profile", "posts.tags"] });
    expectTypeOf(users.then(({ data }) => data[0]?.profile)).resolves.toEqualTypeOf<Profile | null | undefined>();
    expectTypeOf(users.then(({ data }) => data[0]?.posts)).resolves.toEqualTypeOf<Post[] | undefined>();
    // @ts-expect-error not included
    void one.then(({ editor }) => editor);
    // @ts-expect-error there is no such relation
    void client.post.get("p1", { include: ["nope"] });
  });

  it("finds definitions by name", () => {
    const app = makeApp();
    expectTypeOf<InferEntityData<typeof app.entities.user>>().toEqualTypeOf<User>();
    expectTypeOf(app.getEntity("post").name).toEqualTypeOf<"post">();
    expectTypeOf(app.getEntity("post")).toEqualTypeOf<DefinitionOf<typeof post>>();
    expectTypeOf<InferEntityData<ReturnType<typeof app.getEntity<"post">>>>().toEqualTypeOf<Post>();
    // @ts-expect-error there is no such entity
    app.getEntity("nope");
  });
});
