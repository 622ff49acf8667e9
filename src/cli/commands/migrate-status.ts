import { DATABASE_ARGUMENTS } from "../database/database-arguments.ts";
import { printChanges } from "../database/print-changes.ts";
import { withMigrations } from "../database/with-migrations.ts";
import { defineCommand } from "../shell/command.ts";
import { JSON_ARGUMENT } from "../shell/shared-arguments.ts";

/** `keelson migrate status`: where database, migrations and entities stand to each other. */
export const migrateStatus = defineCommand({
  description: "List applied, pending, failed and missing migrations; fails when anything is left to do",
  examples: ["migrate status", "migrate status --json"],
  args: { ...DATABASE_ARGUMENTS, ...JSON_ARGUMENT },
  run: ({ args, output }) =>
    withMigrations(args, async (migrations) => {
      const status = await migrations.status();
      const { applied, pending, failed, missing, drift } = status;
      const isDone = [pending, failed, missing, drift].every(({ length }) => length === 0);
      if (args.json) {
        output.json(status);
        return isDone ? 0 : 1;
      }
      output.table({
        headings: ["STATE", "MIGRATION"],
        rows: Object.entries({ applied, pending, failed, missing }).flatMap(([state, names]) =>
          names.map((name) => [state, name]),
        ),
      });
      printChanges(output, drift);
      if (pending.length > 0) output.note("Apply what is pending: keelson migrate deploy");
      if (drift.length > 0) output.note("The entities say more than the migrations: keelson migrate dev --name=<name>");
      return isDone ? 0 : 1;
    }),
});
