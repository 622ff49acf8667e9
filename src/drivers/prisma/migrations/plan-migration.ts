import { jsonQuoter } from "../embedded/json-quoter.ts";
import { withSchemaEngine } from "../embedded/schema-engine.ts";
import { differenceOf, prepareTables, pushTables, type SchemaTarget } from "../embedded/sync-schema.ts";
import type { Tables } from "../embedded/tables.ts";
import { describeChanges } from "./describe-changes.ts";
import type { MigrationPlan, SchemaChange } from "./migrations.ts";

/** What a plan says when there is nothing to do. */
export const EMPTY_PLAN: MigrationPlan = Object.freeze({ changes: Object.freeze([]), sql: "", isEmpty: true });

/** A comment at the head of a script, which is read by whoever reviews it. */
function heading(changes: readonly SchemaChange[]): string {
  const losses = changes.filter(({ destructive }) => destructive);
  if (losses.length === 0) return "";
  return ["/*", "  Values are lost:", ...losses.map(({ sentence }) => `  - ${sentence}`), "*/", "", ""].join("\n");
}

function scriptOf(statements: readonly string[], script: string): string {
  const own = statements.length === 0 ? "" : `-- Keelson\n${statements.map((sql) => `${sql};\n`).join("")}\n`;
  // The engine's script for no difference is a comment that says so.
  return `${own}${/^--[^\n]*$/.test(script.trim()) ? "" : `${script.trim()}\n`}`;
}

/**
 * How tables get from what they are to what the definitions say. New names are given at once, since only then the rest
 * can be told; whoever wants to look only undoes that in the end.
 * @param apply Whether the tables are changed
 */
export function planMigration(target: SchemaTarget, tables: Tables, apply: boolean): Promise<MigrationPlan> {
  return tables.atomically(async () => {
    const { renames, statements } = await prepareTables(target, tables);
    const catalog = await tables.catalog();
    return withSchemaEngine(target.packages, target.schema, tables.factory, async (engine) => {
      const outline = await differenceOf(engine, target, tables, "outline");
      if (outline === "" && statements.length === 0) return EMPTY_PLAN;
      const written = await differenceOf(engine, target, tables, "script");
      const script = target.provider === "sqlite" ? jsonQuoter()(written) : written;
      const changes = describeChanges({ ...target, renames, catalog, outline });
      if (apply) await pushTables(engine, target, tables);
      return Object.freeze({ changes, sql: heading(changes) + scriptOf(statements, script), isEmpty: false });
    });
  }, apply);
}
