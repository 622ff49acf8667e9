import type { Migrations } from "../../drivers/prisma/index.ts";
import type { Output } from "../shell/output.ts";

/** Applies pending migrations, or only records them for a baseline, and tells which. */
export async function deployPending(
  output: Output,
  migrations: Migrations,
  baseline = false,
): Promise<readonly string[]> {
  const { applied } = await output.withProgress("Applying migrations", (report) =>
    migrations.deploy({ baseline, onProgress: ({ name, done, total }) => report(done, total, name) }),
  );
  return applied;
}
