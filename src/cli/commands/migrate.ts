import type { Migrations } from "../../drivers/prisma/index.ts";
import { DATABASE_ARGUMENTS } from "../database/resolve-target.ts";
import { deployPending, printApplied, printChanges, withMigrations } from "../database/with-migrations.ts";
import { DATA_LOSS_ARGUMENT, defineCommand, JSON_ARGUMENT } from "../shell/command.ts";

/** `keelson migrate deploy`: applies pending migrations before a new version starts. */
export const migrateDeploy = defineCommand({
  description: "Apply the pending migrations, one process at a time; stops at the first that fails",
  examples: ["migrate deploy", "migrate deploy --json", "migrate deploy --baseline   # tables that were pushed before"],
  args: {
    ...DATABASE_ARGUMENTS,
    ...JSON_ARGUMENT,
    baseline: { type: "boolean", description: "Record them without running them; the tables have to fit already" },
  },
  async run({ args, output }) {
    await withMigrations(args, async (migrations) => {
      const applied = await deployPending(output, migrations, args.baseline);
      if (args.json) output.json({ applied });
      else printApplied(output, applied);
    });
    return 0;
  },
});

/** `keelson migrate dev`: writes the migration for the changes, in Prisma's folder layout, and applies it. */
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
      if (args["create-only"]) return;
      const isThere = made !== undefined && (await hasItsChanges(migrations));
      const names = await deployPending(output, migrations, isThere);
      if (isThere) output.line(`Recorded: ${names[0]} (the database had these changes already)`);
      else printApplied(output, names);
    });
    return 0;
  },
});

/** Whether a migration just written is the only pending one, and a push has made its changes. Others may change rows. */
async function hasItsChanges(migrations: Migrations): Promise<boolean> {
  const { pending } = await migrations.status();
  return pending.length === 1 && (await migrations.diff()).isEmpty;
}

/** `keelson migrate resolve`: records the outcome of a failed migration, which only a person can determine. */
export const migrateResolve = defineCommand({
  description: "Say how a migration ended that failed halfway, once you have looked at the database",
  examples: [
    "migrate resolve 20260102030405_add-tags --as=rolled-back",
    "migrate resolve 20260102030405_add-tags --as=applied",
  ],
  args: {
    migration: { type: "positional", description: "The name of its folder", required: true },
    as: { type: "enum", options: ["applied", "rolled-back"], description: "How it ended", required: true },
    ...DATABASE_ARGUMENTS,
  },
  async run({ args, output }) {
    await withMigrations(args, (migrations) => migrations.resolve(args.migration, args.as));
    output.line(`Recorded as ${args.as}: ${args.migration}`);
    return 0;
  },
});

/** `keelson migrate status`: compares database, migrations and entities. */
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
