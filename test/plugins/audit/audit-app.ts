import {
  action,
  archiveAction,
  belongsTo,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  conflictError,
  createEntityStep,
  type Driver,
  datetime,
  defineRule,
  entity,
  importAction,
  int,
  json,
  keelson,
  type Logger,
  manyToMany,
  noopLogger,
  owner,
  type StepContext,
  softDeleteAction,
  string,
  toggleAction,
  updateEntityStep,
  workflow,
} from "../../../src/index.ts";
import type { AuditOptions } from "../../../src/plugins/audit/index.ts";
import { audit } from "../../../src/plugins/audit/index.ts";

const OPEN = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };

export const person = entity("person", {
  name: string,
  password: string.password({ cost: 1 }).optional(),
  token: string.omit().optional(),
  ssn: string.encrypted({ searchable: true }).optional(),
  salary: int.readable("admin").optional(),
  diary: string.readable(owner).optional(),
})
  .ownedBy("id")
  .rules(OPEN);

export const tag = entity("tag", { name: string }).rules(OPEN);

const publish = workflow<{ readonly fail: boolean }>("publish")
  .addStep(createEntityStep("draft", "article", { title: "by a step" }))
  .addStep(
    updateEntityStep(
      "raise",
      "article",
      ({ results }: StepContext<never>) => ({ id: (results.draft as { id: string }).id }),
      { views: 5 },
    ),
  )
  .step("fail", ({ input }) => {
    if (input.fail) throw conflictError("Not now");
    return { done: true };
  })
  .build();

export const article = entity("article", {
  title: string.min(2),
  views: int.default(0),
  published: bool.default(false),
  archived: bool.default(false),
  publishedAt: datetime.optional(),
  deletedAt: datetime.optional(),
  meta: json.optional(),
  tags: manyToMany(() => tag),
})
  .rules(OPEN)
  .actions({
    archive: archiveAction(),
    soft: softDeleteAction(),
    toggle: toggleAction("published"),
    bulkUpdate: bulkUpdateAction(),
    bulkDelete: bulkDeleteAction(),
    import: importAction(),
    rewrite: action()
      .rules("everyone")
      .handler(async ({ driver }) => {
        const made = await driver.create("article", { title: "made" });
        await driver.createMany("article", [{ title: "m1" }, { title: "m2" }]);
        await driver.update("article", { id: made.id }, { views: 7 });
        const changed = await driver.updateMany("article", { title: { in: ["m1", "m2"] } }, { views: 8 });
        await driver.create("tag", { id: "t-own", name: "own" });
        await driver.link("article", "tags", made.id as string, ["t-own"]);
        await driver.link("article", "tags", made.id as string, ["t-own"]);
        await driver.unlink("article", "tags", made.id as string, ["t-own"]);
        await driver.delete("article", { id: made.id });
        const deleted = await driver.deleteMany("article", { title: { in: ["m1", "m2"] } });
        return { changed, deleted };
      }),
    failing: action()
      .rules("everyone")
      .handler(({ transaction }) =>
        transaction(async ({ driver, client }) => {
          await client("article").create({ title: "rolled back" });
          const { id } = await driver.create("article", { title: "rolled back too" });
          await driver.update("article", { id }, { views: 1 });
          throw new RangeError("after the writes");
        }),
      ),
    looking: action()
      .rules("everyone")
      .handler(({ transaction }) =>
        transaction(async ({ driver, client }) => {
          const { id } = (await client("article").create({ title: "seen at once" })) as { id: string };
          const of = { recordId: id };
          const found = await driver.findMany("auditEntry", { where: of });
          return {
            counted: await driver.count("auditEntry", of),
            title: (found[0]?.after as { title?: string } | undefined)?.title,
          };
        }),
      ),
    publish: action()
      .rules("everyone")
      .input({ fail: bool.default(false) })
      .workflow(publish),
  });

/** Deleted with their article, or detached from it. */
export const comment = entity("comment", { text: string, article: belongsTo(() => article).onDelete("cascade") }).rules(
  OPEN,
);
export const reply = entity("reply", { text: string, comment: belongsTo(() => comment).onDelete("cascade") }).rules(
  OPEN,
);
export const bookmark = entity("bookmark", {
  label: string,
  article: belongsTo(() => article)
    .optional()
    .onDelete("setNull"),
}).rules(OPEN);

export const draft = entity("draft", { text: string }).rules(OPEN);

/** Entries of the reader's own changes. */
export const ownEntries = defineRule("ownEntries", ({ user }) => user !== null && { actorId: user.id });

export function auditApp(
  driver: Driver,
  options: AuditOptions = { read: ["admin"], except: ["draft"] },
  logger: Logger = noopLogger,
) {
  return keelson({
    entities: [person, tag, article, comment, reply, bookmark, draft],
    driver,
    plugins: [audit(options)],
    encryption: { key: "ab".repeat(32) },
    logger,
    getUser({ headers }) {
      const id = headers.get("authorization")?.replace("Bearer ", "");
      return id === undefined ? null : { id, role: id === "root" ? "admin" : "user" };
    },
  });
}

export interface Entry {
  readonly id: string;
  readonly at: string;
  readonly actorKind: string;
  readonly actorId: string | null;
  readonly operation: string;
  readonly action: string | null;
  readonly entity: string;
  readonly recordId: string;
  readonly requestId: string | null;
  readonly changed: readonly string[];
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
}
