import { DATABASE_ARGUMENTS } from "../database/database-arguments.ts";
import { printChanges } from "../database/print-changes.ts";
import { withMigrations } from "../database/with-migrations.ts";
import { defineCommand } from "../shell/command.ts";
import { JSON_ARGUMENT } from "../shell/shared-arguments.ts";

/** `keelson db diff`: what a push would change. */
export const dbDiff = defineCommand({
  description: "Show what a push would change; changes nothing",
  examples: ["db diff", "db diff --sql", "db diff --json"],
  args: {
    ...DATABASE_ARGUMENTS,
    ...JSON_ARGUMENT,
    sql: { type: "boolean", description: "Print the statements" },
  },
  async run({ args, output }) {
    await withMigrations(args, async (migrations) => {
      const plan = await migrations.diff();
      if (args.json) output.json(plan);
      else if (args.sql) output.line(plan.sql.trimEnd());
      else if (plan.isEmpty) output.line("The tables fit the entities.");
      else printChanges(output, plan.changes);
    });
    return 0;
  },
});
