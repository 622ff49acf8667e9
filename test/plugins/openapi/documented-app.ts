import {
  action,
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
  type KeelsonConfig,
  keelson,
  manyToMany,
  memoryDriver,
  noopLogger,
  Reply,
  restoreAction,
  softDeleteAction,
  string,
  text,
  toggleAction,
} from "keelson";

const user = entity("user", {
  name: string.min(1).max(80),
  email: email.unique().readable("admin"),
  password: string.password({ cost: 8 }),
  token: string.omit().optional(),
  note: text.optional().readable("owner"),
  posts: hasMany(() => post).inverse("author"),
})
  .ownedBy("id")
  .rules({ read: ["everyone"], create: ["everyone"], update: ["owner"], delete: ["admin"] });

const tag = entity("tag", {
  label: string
    .min(2)
    .max(20)
    .regex(/^[a-z]+$/)
    .unique(),
}).rules({ read: ["everyone"], create: ["admin"] });

const post = entity("post", {
  title: string.min(3).max(80).describe("Shown on top").example("Hello"),
  body: text.optional(),
  views: int.min(0).default(0).readonly(),
  rating: float.positive().optional(),
  status: enums("draft", "live").default("draft"),
  published: bool.default(false),
  homepage: string.url().optional(),
  at: datetime.optional(),
  meta: json.optional(),
  deletedAt: datetime.optional().readonly(),
  author: belongsTo(() => user),
  tags: manyToMany(() => tag),
})
  .ownedBy("author")
  .softDelete()
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["ownerOrAdmin"], delete: ["ownerOrAdmin"] })
  .actions({
    softDelete: softDeleteAction,
    restore: restoreAction,
    toggle: toggleAction("published"),
    count: countAction,
    export: exportAction,
    import: importAction,
    bulkUpdate: bulkUpdateAction,
    bulkDelete: bulkDeleteAction,
    clone: cloneAction,
    exists: existsAction,
    rename: action()
      .onResource()
      .input({ title: string.min(3), loud: bool.default(false) })
      .output({ title: string, at: datetime.optional() })
      .meta({ summary: "Give it another title", tags: ["Editing"] })
      .handler(({ record, input }) => ({ title: input.loud ? input.title.toUpperCase() : input.title, at: record.at })),
    stats: action()
      .get()
      .query({ since: datetime.optional(), top: int.min(1).max(10).default(3) })
      .handler(({ query }) => ({ top: query.top })),
    secretly: action()
      .rules("admin")
      .handler(() => ({ done: true })),
  });

/** Has no rules. */
const closed = entity("closed", { text: string });

/** Endpoints, one of which has a description. */
const extras = createPlugin({
  id: "extras",
  endpoints: {
    ping: endpoint("/ping", { rules: ["everyone"], handler: () => ({ pong: true }), meta: { summary: "Ping" } }),
    teapot: endpoint("/teapots/:size", {
      rules: ["admin"],
      handler: () => new Reply(202, { short: true, stout: true }),
      describe: () => ({
        answers: {
          202: {
            description: "Tea.",
            content: { "application/json": { type: "object", properties: { short: {}, stout: {} } } },
          },
        },
      }),
    }),
    nobody: endpoint("/nobody", { handler: () => ({ never: true }) }),
  },
});

export const USERS = {
  ann: { id: "ann" },
  boss: { id: "boss", role: "admin" },
} as const;

/** An app with every kind of field, prebuilt action and endpoint. `Bearer ann` is Ann. */
export function createDocumentedApp(config: Partial<Omit<KeelsonConfig, "entities">> = {}) {
  return keelson({
    entities: [user, tag, post, closed],
    driver: memoryDriver(),
    logger: noopLogger,
    getUser: ({ headers }) => {
      const name = headers.get("authorization")?.replace("Bearer ", "");
      return name === undefined ? null : USERS[name as keyof typeof USERS];
    },
    plugins: [extras],
    production: false,
    ...config,
  });
}

/** The same, with records in it. */
export async function createFilledApp() {
  const api = createDocumentedApp();
  await api.ready;
  const system = api.asSystem();
  for (const id of ["ann", "boss"])
    await system.user.create({ id, name: id, email: `${id}@shop.example`, password: "correct horse", note: "mine" });
  await system.tag.create({ id: "t1", label: "news" });
  for (const id of ["p1", "p2", "p3"])
    await system.post.create({ id, title: `Post ${id}`, authorId: "ann", rating: 1.5, meta: { any: ["thing"] } });
  return api;
}
