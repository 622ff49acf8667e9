// The Driver port over Prisma: a PrismaClient of yours, or Prisma's driver adapters for SQLite and PostgreSQL with
// Keelson's own statements. Spec section 1.3 names prisma(client); architecture 3.5 and 3.6 say how.

export type { AnyPrismaClient } from "./client/client-connection.ts";
export { type EmbeddedOptions, embedded } from "./embedded/embedded.ts";
export { type PostgresOptions, postgres } from "./embedded/postgres.ts";
export type { Migrations, MigrationTarget, SchemaChange } from "./migrations/migrations.ts";
export { openMigrations } from "./migrations/open-migrations.ts";
export { prisma } from "./prisma.ts";
export { toPrismaSchema } from "./schema/to-prisma-schema.ts";
export { sharedAdapter } from "./share-adapter.ts";
