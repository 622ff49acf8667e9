import {
  belongsTo,
  bool,
  createModel,
  datetime,
  email,
  entity,
  enums,
  float,
  hasMany,
  hasOne,
  int,
  json,
  manyToMany,
  selfRef,
  string,
  text,
} from "../../src/entity/index.ts";

/** Has lists on both ends of one key, a one-to-one relation, and pairs with itself. */
export const user = entity("user", {
  name: string,
  email: email.unique(),
  nickname: string.optional().unique(),
  posts: hasMany(() => post).inverse("author"),
  edited: hasMany(() => post).inverse("editor"),
  comments: hasMany(() => comment),
  profile: hasOne(() => profile),
  badge: hasOne(() => badge),
  seat: hasOne(() => seat),
  friends: manyToMany(() => user),
});

/** Deleted with its user; one per user. */
export const profile = entity("profile", {
  bio: text.optional(),
  user: belongsTo(() => user)
    .unique()
    .onDelete("cascade"),
});

/** Also one per user, because the user's side is a hasOne. */
export const badge = entity("badge", { label: string, user: belongsTo(() => user).onDelete("cascade") });

/** Softly deleted: its unique values, and the limit of one per user, apply to live records only. */
export const seat = entity("seat", {
  code: string.optional().unique(),
  row: string.optional(),
  place: int.optional(),
  deletedAt: datetime.optional(),
  user: belongsTo(() => user)
    .optional()
    .onDelete("cascade"),
})
  .unique(["row", "place"])
  .softDelete();

/** Restricts deletion of its author; its editor and category are set to null. */
export const post = entity("post", {
  title: string,
  slug: string.optional(),
  body: text.optional(),
  views: int.default(0),
  rating: float.optional(),
  published: bool.default(false),
  status: enums("draft", "review", "done").default("draft"),
  publishedAt: datetime.optional(),
  meta: json.optional(),
  author: belongsTo(() => user),
  editor: belongsTo(() => user).optional(),
  category: belongsTo(() => category).optional(),
  comments: hasMany(() => comment),
  tags: manyToMany(() => tag),
})
  .unique(["authorId", "slug"])
  .index(["views"]);

/** Deleted with its post. */
export const comment = entity("comment", {
  text: string,
  post: belongsTo(() => post).onDelete("cascade"),
  author: belongsTo(() => user).optional(),
});

export const tag = entity("tag", { name: string.unique(), posts: manyToMany(() => post) }).timestamps(false);

/** A tree. */
export const category = entity("category", {
  name: string,
  parent: selfRef().optional(),
  children: hasMany(() => category),
});

/** Every kind of field, required and optional, with SQL keywords as names. */
export const sample = entity("sample", {
  string,
  text,
  email,
  int,
  float,
  bool,
  datetime,
  json,
  enum: enums("low", "high"),
  optionalString: string.optional(),
  optionalText: text.optional(),
  optionalEmail: email.optional(),
  optionalInt: int.optional(),
  optionalFloat: float.optional(),
  optionalBool: bool.optional(),
  optionalDatetime: datetime.optional(),
  optionalJson: json.optional(),
  optionalEnum: enums("low", "high").optional(),
});

/** The entities of the driver contract, in the order in which they can be emptied. */
export const fixtureEntities = [comment, post, profile, badge, seat, user, tag, category, sample].map((one) =>
  one.build(),
);

export const fixtureModel = createModel(fixtureEntities);
