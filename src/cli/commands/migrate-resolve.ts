import { DATABASE_ARGUMENTS } from "../database/database-arguments.ts";
import { withMigrations } from "../database/with-migrations.ts";
import { defineCommand } from "../shell/command.ts";

/** `keelson migrate resolve`: how a migration ended that failed halfway, which only a person can know. */
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
