import { DATABASE_ARGUMENTS } from "../database/database-arguments.ts";
import { deployPending } from "../database/deploy-pending.ts";
import { printApplied } from "../database/print-applied.ts";
import { printChanges } from "../database/print-changes.ts";
import { withMigrations } from "../database/with-migrations.ts";
import { defineCommand } from "../shell/command.ts";
import { DATA_LOSS_ARGUMENT } from "../shell/shared-arguments.ts";

/** `keelson migrate dev`: writes the migration for what has changed, in Prisma's folder layout, and applies it. */
export const migrateDev = defineCommand({
  description: "Write the migration for what has changed since the last one, and apply it",
  examples: ["migrate dev --name=add-tags", "migrate dev --name=drop-notes --accept-data-loss"],
  args: {
    name: { type: "string", description: "What it does, in a word or two", required: true, valueHint: "name" },
    "create-only": { type: "boolean", description: "Write the migration and do not apply it" },
    ...DATABASE_ARGUMENTS,
    ...DATA_LOSS_ARGUMENT,
  },
  async run({ args, output }) {
    await withMigrations(args, async (migrations) => {
      const made = await migrations.create(args.name, { acceptDataLoss: args["accept-data-loss"] === true });
      if (made === undefined) output.line("The migrations already say what the entities say.");
      else {
        printChanges(output, made.plan.changes);
        output.line(`Written: ${made.directory}`);
      }
      if (!args["create-only"]) printApplied(output, await deployPending(output, migrations));
    });
    return 0;
  },
});
