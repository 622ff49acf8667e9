import type { SchemaTarget } from "../embedded/sync-schema.ts";
import { toPrismaSchema } from "../schema/to-prisma-schema.ts";
import type { MigrationDatabase } from "./migration-database.ts";

/** What the tables of a database are to become. */
export function schemaTarget(
  { packages, openTables }: MigrationDatabase,
  { model, provider }: Pick<SchemaTarget, "model" | "provider">,
): SchemaTarget {
  return {
    packages,
    model,
    provider,
    schema: toPrismaSchema(model, { provider }),
    option: "--accept-data-loss",
    acceptDataLoss: false,
    openTables,
  };
}
