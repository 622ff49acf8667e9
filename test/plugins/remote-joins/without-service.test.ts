import { afterEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  type Driver,
  datetime,
  defineRule,
  entity,
  memoryDriver,
  type Row,
  softDeleteAction,
  string,
  type User,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { keepingLog } from "./shop.ts";

const published = defineRule("remote-published", () => ({ state: "published" }));
const editor = entity("editor", { name: string, pay: string.readable("admin").optional() })
  .timestamps(false)
  .rules({ read: ["everyone"] });
const article = entity("article", {
  title: string,
  state: string,
  draft: string.omit().optional(),
  deletedAt: datetime.optional(),
  editor: belongsTo(() => editor).optional(),
})
  .timestamps(false)
  .softDelete()
  .actions({ remove: softDeleteAction })
  .rules({ read: [published, "admin"] });
const mention = entity("mention", { article: belongsTo(() => article).remote() })
  .timestamps(false)
  .rules({ read: ["everyone"] });

const cleaning: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleaning.splice(0).reverse()) await clean();
});

const DATABASES: readonly (readonly [string, () => Promise<{ readonly driver: Driver; drop(): Promise<void> }>])[] = [
  ["memory", async () => ({ driver: memoryDriver(), drop: async () => {} })],
  ...SQL_DATABASES,
];

describe.each(DATABASES)("a remote relation without a service, on %s", { timeout: 60_000 }, (_name, openDatabase) => {
  it("is read with the app's own driver, in batches, with the target's rules and masks", async () => {
    const { driver, drop } = await openDatabase();
    cleaning.push(drop);
    const app = createTestApp({
      entities: [editor, article, mention],
      driver,
      remoteJoins: { batchSize: 2 },
      logger: keepingLog().logger,
    });
    cleaning.push(app.close);
    const system = app.api.asSystem();
    await system.editor.create({ id: "e1", name: "Eve", pay: "canary" });
    const given = { state: "published", draft: "canary", editorId: "e1" };
    for (const id of ["a1", "a2", "a5"]) await system.article.create({ ...given, id, title: id });
    await system.article.create({ ...given, id: "a3", title: "a3", state: "hidden" });
    await system.article.create({ ...given, id: "a4", title: "a4", deletedAt: new Date() });
    // The database has no foreign key for a remote relation: its target may be missing.
    for (const n of [1, 2, 3, 4, 5, 6]) await system.mention.create({ id: `m${n}`, articleId: `a${n}` });

    const read = async (user: User | null): Promise<(readonly [unknown, unknown] | null)[]> => {
      const { status, body, headers } = await app.as(user).request("GET", "/api/mentions?include=article.editor");
      expect([status, headers.get("x-remote-errors")]).toEqual([200, null]);
      expect(JSON.stringify(body)).not.toContain(user === null ? "canary" : '"draft"');
      return (body as Row[]).map((row) => {
        const found = row.article as Row | null;
        return found && ([found.title, (found.editor as Row | null)?.name] as const);
      });
    };
    const shown = (title: string): readonly [string, string] => [title, "Eve"];
    expect(await read(null)).toEqual([shown("a1"), shown("a2"), null, null, shown("a5"), null]);
    const admin = { id: "root", role: "admin" };
    expect(await read(admin)).toEqual([shown("a1"), shown("a2"), shown("a3"), null, shown("a5"), null]);
  });
});
