import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { MigrationTarget } from "../../src/drivers/prisma/index.ts";
import { type AnyEntity, createModel } from "../../src/entity/index.ts";
import { openPage } from "../support/page.ts";

const guide = openPage("guides/migrations");

afterAll(() => guide.remove());

it("writes and applies a migration as it says", async () => {
  const folder = await mkdtemp(join(tmpdir(), "keelson-guide-"));
  const directory = join(folder, "migrations");
  const { migrate } = await guide.load<{
    migrate(target: MigrationTarget, directory: string): Promise<Record<string, readonly unknown[]>>;
  }>("openMigrations");
  const target: MigrationTarget = { provider: "sqlite", url: `file:${join(folder, "app.db")}` };
  const outcome = await migrate(target, directory);
  expect(outcome.changes).toEqual([{ kind: "create-table", sentence: 'table "post" is made', destructive: false }]);
  expect(outcome).toMatchObject({ pending: [], failed: [], missing: [], drift: [] });
  expect(outcome.applied).toEqual((await readdir(directory)).filter((name) => name.endsWith("_add_posts")));
  expect(await migrate(target, directory)).toMatchObject({ changes: [], applied: [] });
  await rm(folder, { recursive: true });
});

it("renames entities that fit together", async () => {
  const { person, article } = await guide.load<Record<string, { build(): AnyEntity }>>("renamedFrom");
  const model = createModel([person, article] as { build(): AnyEntity }[]);
  expect(model.problems).toEqual([]);
  expect(model.entities.map(({ renamedFrom }) => renamedFrom)).toEqual(["user", "post"]);
});
