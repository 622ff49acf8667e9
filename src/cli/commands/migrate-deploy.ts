import { DATABASE_ARGUMENTS } from "../database/database-arguments.ts";
import { deployPending } from "../database/deploy-pending.ts";
import { printApplied } from "../database/print-applied.ts";
import { withMigrations } from "../database/with-migrations.ts";
import { defineCommand } from "../shell/command.ts";
import { JSON_ARGUMENT } from "../shell/shared-arguments.ts";

/** `keelson migrate deploy`: for the step before a new version starts. */
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
