import {
  action,
  archiveAction,
  belongsTo,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  countAction,
  createPlugin,
  datetime,
  email,
  endpoint,
  entity,
  enums,
  existsAction,
  exportAction,
  float,
  hasMany,
  importAction,
  int,
  json,
  manyToMany,
  restoreAction,
  selfRef,
  softDeleteAction,
  string,
  text,
  toggleAction,
  unarchiveAction,
} from "../../../src/index.ts";

// Every kind of field, every way to protect a field, and every prebuilt action.

export const user = entity("user", {
  name: string.trim().min(1).max(80),
  email: email.trim().lower().unique().readable("ownerOrAdmin"),
  role: string.default("person").writable("admin"),
  password: string.password({ cost: 1 }),
  apiToken: string.omit(),
  salary: int.readable("admin").writable("admin"),
  ssn: string.encrypted({ searchable: true }).unique().readable("ownerOrAdmin"),
  posts: hasMany(() => post),
})
  .ownedBy("id")
  .rules({ read: ["everyone"], create: ["admin"], update: ["ownerOrAdmin"], delete: ["admin"] })
  .actions({ export: exportAction, count: countAction });

export const post = entity("post", {
  title: string.trim().min(3).max(120),
  slug: string
    .regex(/^[a-z0-9-]+$/)
    .unique()
    .optional(),
  body: text.optional(),
  views: int.default(0),
  rating: float.min(0).max(10).optional(),
  published: bool.default(false),
  status: enums("draft", "live").default("draft"),
  due: datetime.optional(),
  meta: json.optional(),
  pin: string.omit().optional(),
  author: belongsTo(() => user),
  parent: selfRef().optional(),
  tags: manyToMany(() => tag),
  archived: bool.default(false),
  deletedAt: datetime.optional(),
})
  .ownedBy("author")
  .versioned()
  .validate(({ title }) => title !== "forbidden", "this title is not for anybody")
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["ownerOrAdmin"], delete: ["ownerOrAdmin"] })
  .actions({
    toggle: toggleAction("published"),
    archive: archiveAction,
    unarchive: unarchiveAction,
    softDelete: softDeleteAction,
    restore: restoreAction,
    clone: cloneAction(["slug"]),
    count: countAction,
    exists: existsAction,
    export: exportAction,
    import: importAction({ upsertBy: "slug" }),
    bulkUpdate: bulkUpdateAction,
    bulkDelete: bulkDeleteAction,
    rename: action()
      .onResource()
      .input({ title: string.min(3).max(120), at: datetime.optional() })
      .handler(({ record, input, driver, entity: posts }) =>
        driver.update(posts, { id: record.id }, { title: input.title }),
      ),
  });

/** Only the owner sees that such a record exists. */
export const note = entity("note", {
  text: text,
  secret: text.encrypted(),
  pinned: bool.optional(),
  author: belongsTo(() => user),
})
  .ownedBy("author")
  .rules({ read: ["owner"], create: ["authenticated"], update: ["owner"], delete: ["owner"] })
  .actions({
    toggle: toggleAction("pinned"),
    clone: cloneAction,
    count: countAction,
    exists: existsAction,
    export: exportAction,
    bulkUpdate: bulkUpdateAction,
    bulkDelete: bulkDeleteAction,
  });

export const tag = entity("tag", { name: string.min(1).unique(), posts: manyToMany(() => post) }).rules({
  read: ["everyone"],
  create: ["admin"],
  update: ["admin"],
  delete: ["admin"],
});

/** No rules: denied to all callers. */
export const bare = entity("bare", { x: string });

export const fuzzEntities = [user, post, note, tag, bare] as const;

/** Returns its input unchanged. */
export const echo = createPlugin({
  id: "echo",
  endpoints: {
    echo: endpoint("/echo", { method: "POST", rules: ["everyone"], handler: ({ body }) => body() }),
  },
});
