import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { embedded, postgres } from "../../../src/drivers/prisma/index.ts";
import {
  belongsTo,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  countAction,
  type Driver,
  datetime,
  entity,
  existsAction,
  exportAction,
  hasMany,
  hasOne,
  int,
  manyToMany,
  noopLogger,
  restoreAction,
  softDeleteAction,
  string,
  type User,
} from "../../../src/index.ts";
import type { TestResponse } from "../../../src/testing/create-test-app.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";

/** All callers read; owners and admins change. Its restore action has no rules, so it uses those of update. */
const post = entity("post", {
  title: string,
  slug: string.unique().optional(),
  shelf: string.optional(),
  place: int.optional(),
  deletedAt: datetime.optional(),
  author: belongsTo(() => user),
  tags: manyToMany(() => tag),
})
  .ownedBy("author")
  .softDelete()
  .unique(["shelf", "place"])
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["ownerOrAdmin"], delete: ["ownerOrAdmin"] })
  .actions({
    softDelete: softDeleteAction,
    restore: restoreAction,
    clone: cloneAction,
    exists: existsAction,
    count: countAction,
    export: exportAction,
    bulkUpdate: bulkUpdateAction,
    bulkDelete: bulkDeleteAction,
  });

/** Its field has another name, and only admins restore it, although every authenticated caller may change it. */
const tag = entity("tag", { name: string, goneAt: datetime.optional() })
  .softDelete("goneAt")
  .rules({
    read: ["everyone"],
    create: ["authenticated"],
    update: ["authenticated"],
    delete: ["authenticated"],
  })
  .actions({ softDelete: softDeleteAction(), restore: restoreAction().rules("admin"), count: countAction() });

const user = entity("user", {
  name: string,
  deletedAt: datetime.optional(),
  posts: hasMany(() => post).inverse("author"),
  profile: hasOne(() => profile),
})
  .softDelete()
  .rules({ read: ["everyone"], create: ["admin"], update: ["admin"], delete: ["admin"] })
  .actions({ softDelete: softDeleteAction, restore: restoreAction });

const profile = entity("profile", {
  bio: string,
  deletedAt: datetime.optional(),
  user: belongsTo(() => user),
})
  .softDelete()
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["authenticated"], delete: ["authenticated"] })
  .actions({ softDelete: softDeleteAction, restore: restoreAction });

/** Records without soft deletion that refer to some with it. */
const comment = entity("comment", { text: string, post: belongsTo(() => post).optional() }).rules({
  read: ["everyone"],
  create: ["everyone"],
  update: ["everyone"],
  delete: ["everyone"],
});

export const archive = [user, profile, post, tag, comment] as const;

/** The three databases. */
export const DATABASES: readonly (readonly [string, () => Promise<{ driver: Driver; remove(): Promise<void> }>])[] = [
  ["memory", async () => ({ driver: memoryDriver(), remove: async () => {} })],
  [
    "SQLite",
    async () => {
      const { file, remove } = await freshSqliteFile();
      return { driver: embedded({ file }), remove };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const { url, drop } = await freshPostgres();
      return { driver: postgres(url), remove: drop };
    },
  ],
];

export const ANN: User = { id: "ann" };
export const BOB: User = { id: "bob" };
export const ADMIN: User = { id: "root", role: "admin" };

export type Ask = (who: User | null, method: string, path: string, body?: unknown) => Promise<TestResponse>;

/** An app on a database, with ann, bob and root. */
export async function openArchive(driver: Driver) {
  const app = createTestApp({ entities: archive, driver, logger: noopLogger });
  await app.api.ready;
  const ask: Ask = (who, method, path, body) => app.as(who).request(method, `/api${path}`, body);
  for (const id of ["ann", "bob", "root"]) await app.api.asSystem().user.create({ id, name: id });
  return { app, ask };
}

/** The ids of a response's records, in order. */
export function idsOf({ body }: TestResponse): readonly string[] {
  return (body as readonly { readonly id: string }[]).map(({ id }) => id).sort();
}

/** Summary of a response. */
export function short({ status, body }: TestResponse): unknown {
  return status === 200 ? idsOf({ status, body } as TestResponse) : status;
}
