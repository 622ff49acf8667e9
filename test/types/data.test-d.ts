import { describe, expectTypeOf, it } from "vitest";
import {
  belongsTo,
  entity,
  type InferCreateInput,
  type InferEntityData,
  type InferUpdateInput,
  int,
  type RelatedData,
  type RelationNames,
  string,
} from "../../src/entity/index.ts";
import { type Post, type post, type profile, type tag, type User, user } from "./blog.ts";

describe("InferEntityData", () => {
  it("has id, fields, foreign keys and timestamps", () => {
    expectTypeOf<InferEntityData<typeof post>>().toEqualTypeOf<Post>();
  });

  it("omits password and omitted fields", () => {
    expectTypeOf<InferEntityData<typeof user>>().toEqualTypeOf<User>();
  });

  it("has no timestamps for entities without them", () => {
    expectTypeOf<InferEntityData<typeof profile>>().toEqualTypeOf<{ id: string; bio: string | null; userId: string }>();
    expectTypeOf<InferEntityData<typeof tag>>().toEqualTypeOf<{ id: string; name: string }>();
  });

  it("is the same for a builder and its definition", () => {
    const built = user.build();
    expectTypeOf<InferEntityData<typeof built>>().toEqualTypeOf<InferEntityData<typeof user>>();
  });

  it("hides a field for any order of its modifiers", () => {
    const secrets = entity("secrets", {
      a: string.optional().omit(),
      b: string.omit().optional(),
      c: string.min(8).password({ cost: 12 }).max(9),
      d: int.omit().default(1).min(0),
    }).timestamps(false);
    expectTypeOf<InferEntityData<typeof secrets>>().toEqualTypeOf<{ id: string }>();
  });
});

describe("InferCreateInput", () => {
  it("requires fields without optional, default, owner or readonly", () => {
    expectTypeOf<InferCreateInput<typeof post>>().toEqualTypeOf<{
      title: string;
      views?: number;
      rating?: number | null;
      published?: boolean;
      publishedAt?: Date | null;
      meta?: unknown;
      settings?: { theme: "dark" | "light" } | null;
      authorId?: string;
      editedBy?: string | null;
      tagsIds?: readonly string[];
      parentId?: string | null;
    }>();
  });

  it("accepts password and omitted fields", () => {
    expectTypeOf<InferCreateInput<typeof user>>().toEqualTypeOf<{
      name: string;
      email: string;
      role?: "reader" | "writer";
      password: string;
      apiToken?: string | null;
    }>();
  });

  it("requires the foreign key of a relation that is not the owner", () => {
    expectTypeOf<InferCreateInput<typeof profile>>().toEqualTypeOf<{ bio?: string | null; userId: string }>();
  });

  it("accepts no id, no timestamps and no readonly field", () => {
    type Keys = keyof InferCreateInput<typeof post>;
    expectTypeOf<
      Extract<Keys, "id" | "createdAt" | "updatedAt" | "slug" | "author" | "tags" | "replies">
    >().toBeNever();
  });

  it("refuses a value that the enum does not have", () => {
    const input = { name: "ann", email: "ann@example.com", password: "secret" };
    expectTypeOf({ ...input, role: "writer" as const }).toExtend<InferCreateInput<typeof user>>();
    expectTypeOf({ ...input, role: "admin" as const }).not.toExtend<InferCreateInput<typeof user>>();
  });
});

describe("InferUpdateInput", () => {
  it("accepts any part, the owner included", () => {
    expectTypeOf<InferUpdateInput<typeof post>>().toEqualTypeOf<{
      title?: string;
      views?: number;
      rating?: number | null;
      published?: boolean;
      publishedAt?: Date | null;
      meta?: unknown;
      settings?: { theme: "dark" | "light" } | null;
      authorId?: string;
      editedBy?: string | null;
      tagsIds?: readonly string[];
      parentId?: string | null;
    }>();
  });

  it("refuses null if the column is required", () => {
    expectTypeOf<{ title: null }>().not.toExtend<InferUpdateInput<typeof post>>();
    expectTypeOf<{ rating: null }>().toExtend<InferUpdateInput<typeof post>>();
  });
});

describe("RelatedData", () => {
  it("follows entities that refer to each other, without annotations", () => {
    expectTypeOf<RelatedData<typeof post, "author">>().toEqualTypeOf<User | null>();
    expectTypeOf<RelatedData<typeof post, "editor">>().toEqualTypeOf<User | null>();
    expectTypeOf<RelatedData<typeof user, "posts">>().toEqualTypeOf<Post[]>();
    expectTypeOf<RelatedData<typeof user, "profile">>().toEqualTypeOf<{
      id: string;
      bio: string | null;
      userId: string;
    } | null>();
    expectTypeOf<RelatedData<typeof post, "tags">>().toEqualTypeOf<{ id: string; name: string }[]>();
    expectTypeOf<RelatedData<typeof tag, "posts">>().toEqualTypeOf<Post[]>();
  });

  it("of selfRef is the entity itself", () => {
    expectTypeOf<RelatedData<typeof post, "parent">>().toEqualTypeOf<Post | null>();
    expectTypeOf<RelatedData<typeof post, "replies">>().toEqualTypeOf<Post[]>();
  });

  it("of a name that is not a relation is empty", () => {
    expectTypeOf<RelatedData<typeof post, "title">>().toBeNever();
    expectTypeOf<RelatedData<typeof post, "nope">>().toBeNever();
  });

  it("needs a function, because the other entity may not exist yet", () => {
    belongsTo(() => user);
    belongsTo(function late() {
      return user;
    });
    // @ts-expect-error a name is not an entity
    belongsTo("user");
    // @ts-expect-error the entity itself may not exist yet
    belongsTo(user);
    // @ts-expect-error only selfRef knows its target
    belongsTo();
  });

  it("has a name for every relation", () => {
    expectTypeOf<RelationNames<typeof post>>().toEqualTypeOf<"author" | "editor" | "tags" | "parent" | "replies">();
    expectTypeOf<RelationNames<typeof user>>().toEqualTypeOf<"posts" | "profile">();
  });
});

describe("ownedBy", () => {
  it("accepts a name of the entity, or id", () => {
    const owned = entity("owned", { title: string, author: belongsTo(() => user) });
    owned.ownedBy("author");
    owned.ownedBy("id");
    // @ts-expect-error there is no such member
    owned.ownedBy("writer");
    // @ts-expect-error the relation owns the key, not the other way round
    owned.ownedBy("authorId");
  });

  it("makes only the owner's key optional on create", () => {
    const owned = entity("owned", { author: belongsTo(() => user), reviewer: belongsTo(() => user) });
    const byAuthor = owned.ownedBy("author");
    expectTypeOf<InferCreateInput<typeof owned>>().toEqualTypeOf<{ authorId: string; reviewerId: string }>();
    expectTypeOf<InferCreateInput<typeof byAuthor>>().toEqualTypeOf<{ authorId?: string; reviewerId: string }>();
  });
});

describe("cross-field validators", () => {
  it("receive any part of the entity's data", () => {
    entity("event", { from: int, to: int.optional() }).validate((data, context) => {
      expectTypeOf(data.from).toEqualTypeOf<number | undefined>();
      expectTypeOf(data.to).toEqualTypeOf<number | null | undefined>();
      expectTypeOf(context.operation).toEqualTypeOf<"create" | "update">();
      return (data.from ?? 0) < (data.to ?? 0);
    }, "must end after it begins");
    // @ts-expect-error a predicate answers with true or false
    entity("event", { from: int }).validate((data) => data.from, "x");
    // @ts-expect-error there is no such field
    entity("event", { from: int }).validate((data) => data.until === 1, "x");
  });
});
