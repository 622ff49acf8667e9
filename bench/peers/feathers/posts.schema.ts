import { resolve, virtual } from "@feathersjs/schema";
import { getValidator, querySyntax, type Static, StringEnum, Type } from "@feathersjs/typebox";
import { v7 as uuid } from "uuid";
import type { Caller, HookContext } from "./declarations.ts";
import { dataValidator, queryValidator } from "./validators.ts";

const postSchema = Type.Object(
  {
    id: Type.String(),
    title: Type.String({ minLength: 1, maxLength: 255 }),
    body: Type.String({ minLength: 1, maxLength: 10_000 }),
    published: Type.Boolean(),
    views: Type.Integer({ minimum: 0 }),
    authorId: Type.String(),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
    author: Type.Optional(Type.Any()),
  },
  { $id: "Post", additionalProperties: false },
);
type Post = Static<typeof postSchema>;

/** Attaches the author of each post where the query asks for it. */
export const postResolver = resolve<Post, HookContext>({
  author: virtual(async (post, context) =>
    context.params.include === "author" ? context.app.service("users").get(post.authorId) : undefined,
  ),
});

export const postExternalResolver = resolve<Post, HookContext>({});

const postDataSchema = Type.Intersect(
  [Type.Pick(postSchema, ["title", "body"]), Type.Partial(Type.Pick(postSchema, ["published", "views"]))],
  { $id: "PostData", additionalProperties: false },
);
export const postDataValidator = getValidator(postDataSchema, dataValidator);

const callerOf = (context: HookContext): string => (context.params.user as Caller).id;

/** What a new post has that its writer does not say. */
export const postDataResolver = resolve<Post, HookContext>({
  id: async () => uuid(),
  authorId: async (_value, _post, context) => callerOf(context),
  createdAt: async () => new Date().toISOString(),
  updatedAt: async () => new Date().toISOString(),
});

const postPatchSchema = Type.Partial(Type.Pick(postSchema, ["title", "body", "published", "views"]), {
  $id: "PostPatch",
  additionalProperties: false,
});
export const postPatchValidator = getValidator(postPatchSchema, dataValidator);
export const postPatchResolver = resolve<Post, HookContext>({ updatedAt: async () => new Date().toISOString() });

const queried = Type.Pick(postSchema, ["id", "title", "published", "views", "authorId", "createdAt"]);
const postQuerySchema = Type.Intersect(
  [
    querySyntax(queried),
    Type.Object({ include: Type.Optional(StringEnum(["author"])) }, { additionalProperties: false }),
  ],
  { $id: "PostQuery", additionalProperties: false },
);
type PostQuery = Static<typeof postQuerySchema>;
export const postQueryValidator = getValidator(postQuerySchema, queryValidator);

/** Posts are changed by their authors only: everybody else's are not found. */
export const postQueryResolver = resolve<PostQuery, HookContext>({
  authorId: async (value, _query, context) => (context.method === "patch" ? callerOf(context) : value),
  async include(value, _query, context) {
    context.params.include = value;
    return undefined;
  },
});
