// The Driver port over Prisma: an app's PrismaClient, or Prisma's driver adapters for SQLite and PostgreSQL with
// Keelson's own statements. See spec section 1.3 and architecture 3.5 and 3.6.

export type { AnyPrismaClient } from "./client/client-connection.ts";
export { type EmbeddedOptions, embedded } from "./embedded/embedded.ts";
export { type PostgresOptions, postgres } from "./embedded/postgres.ts";
export type { Migrations, MigrationTarget, SchemaChange } from "./migrations/migrations.ts";
export { openMigrations } from "./migrations/open-migrations.ts";
export { prisma } from "./prisma.ts";
export { toPrismaSchema } from "./schema/to-prisma-schema.ts";
export { sharedAdapter } from "./share-adapter.ts";
