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
  manyToMany,
  selfRef,
  string,
  text,
} from "../../../src/entity/index.ts";
import type { FieldMask } from "../../../src/gate/index.ts";
import { createPlugin, type Plugin } from "../../../src/gate/index.ts";

/** Entities that crud tests share: posts by users, with comments, tags and a cover. */
export const user = entity("user", {
  name: string,
  email: email.optional(),
  posts: hasMany(() => post),
});

export const post = entity("post", {
  title: string,
  title_like: string.optional(),
  body: text.optional(),
  views: int.default(0),
  score: float.optional(),
  published: bool.default(false),
  publishedAt: datetime.optional(),
  status: enums("draft", "live").default("draft"),
  meta: json.optional(),
  secret: string.optional(),
  author: belongsTo(() => user),
  parent: selfRef().optional(),
  comments: hasMany(() => comment),
  cover: hasOne(() => cover),
  tags: manyToMany(() => tag),
});

export const comment = entity("comment", {
  text: string,
  author: belongsTo(() => user).optional(),
  post: belongsTo(() => post),
});
export const cover = entity("cover", { url: string, post: belongsTo(() => post).unique() });
export const tag = entity("tag", { name: string.unique(), posts: manyToMany(() => post) }).timestamps(false);

export const library = [user, post, comment, cover, tag] as const;

/** Narrows masks: `hide("post", "secret")` hides fields from every caller. */
export function hide(entityName: string, ...names: readonly string[]): Plugin {
  const without = (set: ReadonlySet<string>): ReadonlySet<string> =>
    new Set([...set].filter((name) => !names.includes(name)));
  const narrow = ({ readable, writable, filterable, sortable }: FieldMask): FieldMask => ({
    readable: without(readable),
    writable,
    filterable: without(filterable),
    sortable: without(sortable),
  });
  return createPlugin({
    id: "test/hide",
    hooks: {
      "access:mask": (draft) => {
        if (draft.entity.name === entityName) draft.mask = narrow(draft.mask);
      },
    },
  });
}

/** Decides about whole entities: all except the named ones may be read and written. */
export function deny(...names: readonly string[]): Plugin {
  return createPlugin({
    id: "test/deny",
    hooks: {
      "operation:authorize": ({ entity: { name }, decision }) => {
        decision.allowed = !names.includes(name);
      },
    },
  });
}
