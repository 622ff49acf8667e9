import { DATABASE_ARGUMENTS } from "../database/database-arguments.ts";
import { printChanges } from "../database/print-changes.ts";
import { withMigrations } from "../database/with-migrations.ts";
import { defineCommand } from "../shell/command.ts";
import { JSON_ARGUMENT } from "../shell/shared-arguments.ts";

/** `keelson db status`: for scripts that have to know whether the database fits. */
export const dbStatus = defineCommand({
  description: "Tell whether the database fits the entities; fails when it does not",
  examples: ["db status", "db status --json"],
  args: { ...DATABASE_ARGUMENTS, ...JSON_ARGUMENT },
  run: ({ args, output }) =>
    withMigrations(args, async (migrations) => {
      const { isEmpty, changes } = await migrations.diff();
      if (args.json) output.json({ fits: isEmpty, changes });
      else if (isEmpty) output.line("The tables fit the entities.");
      else {
        printChanges(output, changes);
        output.note(
          "The tables do not fit the entities. In development: keelson db push. Elsewhere: keelson migrate dev",
        );
      }
      return isEmpty ? 0 : 1;
    }),
});
