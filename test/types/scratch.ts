import {
  belongsTo,
  datetime,
  entity,
  enums,
  hasMany,
  type InferAll,
  type InferCreateInput,
  type InferEntityData,
  type InferUpdateInput,
  int,
  manyToMany,
  type RelatedData,
  selfRef,
  string,
} from "../../src/entity/index.ts";
export const user = entity("user", {
  name: string.min(3),
  email: string,
  pw: string.password(),
  posts: hasMany(() => post),
  role: enums("a", "b").default("a"),
})
  .ownedBy("id")
  .rules({ read: ["everyone"] });
export const post = entity("post", {
  title: string,
  views: int.default(0),
  at: datetime.optional(),
  author: belongsTo(() => user),
  editor: belongsTo(() => user)
    .optional()
    .foreignKey("ed"),
  tags: manyToMany(() => tag),
  parent: selfRef().optional(),
})
  .ownedBy("author")
  .rules({ create: ["authenticated"] })
  .build();
export const tag = entity("tag", { name: string.unique() }).timestamps(false);
const d: InferEntityData<typeof post> = {
  id: "",
  title: "",
  views: 1,
  at: null,
  authorId: "",
  ed: null,
  parentId: null,
  createdAt: new Date(),
  updatedAt: new Date(),
};
const c: InferCreateInput<typeof post> = { title: "x" };
const u: InferCreateInput<typeof user> = { name: "x", email: "", pw: "" };
const up: InferUpdateInput<typeof post> = { tagsIds: ["a"], authorId: "" };
const t: InferEntityData<typeof tag> = { id: "", name: "" };
type I = InferAll<[typeof user, typeof post, typeof tag]>;
const n: I["EntityNames"] = "post";
const e: I["Entities"]["post"] = d;
const r: RelatedData<typeof post, "author"> = null as null | I["Entities"]["user"];
const ps: RelatedData<typeof user, "posts"> = [d];
const par: RelatedData<typeof post, "parent"> = d;

export { c, e, n, par, ps, r, t, u, up };
