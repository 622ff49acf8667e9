import { DATABASE_ARGUMENTS } from "../database/database-arguments.ts";
import { isAccepted } from "../database/is-accepted.ts";
import { printChanges } from "../database/print-changes.ts";
import { withMigrations } from "../database/with-migrations.ts";
import { defineCommand } from "../shell/command.ts";
import { DATA_LOSS_ARGUMENT, JSON_ARGUMENT } from "../shell/shared-arguments.ts";

/** `keelson db push`: the database becomes what the entities say, without a migration. */
export const dbPush = defineCommand({
  description: "Change the tables to fit the entities, without a migration. For development and prototypes",
  examples: ["db push", "db push --accept-data-loss", "db push --url=postgresql://localhost/shop"],
  args: { ...DATABASE_ARGUMENTS, ...DATA_LOSS_ARGUMENT, ...JSON_ARGUMENT },
  run: ({ args, output }) =>
    withMigrations(args, async (migrations) => {
      const accepted = args["accept-data-loss"] === true;
      const { changes } = await migrations.diff();
      if (!args.json) printChanges(output, changes);
      if (!isAccepted(output, changes, accepted)) {
        if (args.json) output.json({ changed: false, changes });
        return 1;
      }
      if (changes.length > 0)
        await output.withProgress("Changing the tables", (report) =>
          migrations.push({
            acceptDataLoss: accepted,
            onProgress: ({ name, done, total }) => report(done, total, name),
          }),
        );
      if (args.json) output.json({ changed: changes.length > 0, changes });
      else
        output.line(changes.length > 0 ? "The tables fit the entities now." : "The tables fit the entities already.");
      return 0;
    }),
});
