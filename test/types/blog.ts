import {
  belongsTo,
  bool,
  datetime,
  email,
  entity,
  enums,
  float,
  hasMany,
  hasOne,
  int,
  json,
  jsonTyped,
  manyToMany,
  selfRef,
  string,
  text,
} from "../../src/entity/index.ts";

// Entities that refer to each other, without any annotation, as a test of type inference.

export const user = entity("user", {
  name: string.min(3),
  email: email.unique(),
  role: enums("reader", "writer").default("reader"),
  password: string.password(),
  apiToken: string.omit().optional(),
  posts: hasMany(() => post),
  profile: hasOne(() => profile),
}).ownedBy("id");

export const profile = entity("profile", {
  bio: text.optional(),
  user: belongsTo(() => user).unique(),
}).timestamps(false);

export const post = entity("post", {
  title: string,
  views: int.default(0),
  rating: float.optional(),
  published: bool.default(() => false),
  publishedAt: datetime.optional(),
  meta: json.optional(),
  settings: jsonTyped<{ theme: "dark" | "light" }>().optional(),
  slug: string.readonly(),
  author: belongsTo(() => user),
  editor: belongsTo(() => user)
    .optional()
    .foreignKey("editedBy"),
  tags: manyToMany(() => tag),
  parent: selfRef().optional(),
  replies: hasMany(() => post),
})
  .ownedBy("author")
  .rules({ create: ["authenticated"] })
  .validate((data) => data.title !== "", "must have a title")
  .build();

export const tag = entity("tag", { name: string.unique(), posts: manyToMany(() => post) }).timestamps(false);

export interface User {
  id: string;
  name: string;
  email: string;
  role: "reader" | "writer";
  createdAt: Date;
  updatedAt: Date;
}

export interface Post {
  id: string;
  title: string;
  views: number;
  rating: number | null;
  published: boolean;
  publishedAt: Date | null;
  meta: unknown;
  settings: { theme: "dark" | "light" } | null;
  slug: string;
  authorId: string;
  editedBy: string | null;
  parentId: string | null;
  createdAt: Date;
  updatedAt: Date;
}
