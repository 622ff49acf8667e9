import { DATABASE_ARGUMENTS } from "../database/resolve-target.ts";
import { isAccepted, printChanges, withMigrations } from "../database/with-migrations.ts";
import { DATA_LOSS_ARGUMENT, defineCommand, JSON_ARGUMENT } from "../shell/command.ts";

/** `keelson db push`: changes the database to match the entities, without a migration. */
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

/** `keelson db diff`: shows the changes of a push. */
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

/** `keelson db status`: reports to scripts whether the database matches. */
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
