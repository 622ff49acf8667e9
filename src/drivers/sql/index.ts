// The SQL executor: sessions, transactions, statements and errors of the databases that Prisma's driver adapters reach. It knows no
// client and no way to open a database; src/drivers/prisma does.

export { EXACT_COLLATIONS, exactCollation } from "./condition/exact-collation.ts";
export { namingDangling, type Written } from "./errors/naming-dangling.ts";
export { isSqliteBusy, PrismaFailure } from "./errors/prisma-failure.ts";
export { danglingReference, toKeelsonError } from "./errors/to-keelson-error.ts";
export { findMisfits, readCatalog } from "./execute/find-misfits.ts";
export { type SqlPath, sqlPath } from "./execute/sql-path.ts";
export { type ById, byId } from "./fast/by-id.ts";
export { poolQueries } from "./fast/pool-queries.ts";
export { readTogether } from "./fast/read-together.ts";
export { ALL_FAST, type Fast } from "./fast/switches.ts";
export { type Connection, createConnection } from "./session/connection.ts";
export { createDatabaseDriver, type Path } from "./session/create-database-driver.ts";
export { assertKept, DIALECTS, type Dialect } from "./session/dialect.ts";
export { compilePlans, countsVersion, type EntityPlan } from "./session/entity-plan.ts";
export type { OpenedClient } from "./session/opened-client.ts";
export { BUSY_DELAYS, withRetries } from "./session/retry.ts";
export type { Transact } from "./session/run-transaction.ts";
export type { Session } from "./session/session.ts";
export { selectionOf, selectQuery } from "./statement/select-query.ts";
export type { SqlConnection } from "./statement/sql-connection.ts";
export type { NamedQuery } from "./statement/sql-statement.ts";
export { type Catalog, type ColumnShape, columnsQuery, toCatalog } from "./tables/catalog.ts";
export { columnTypeOf, isWidening } from "./tables/column-type.ts";
export { shortName } from "./tables/constraint-name.ts";
export { firstSide, hiddenName, linkName, linkTableName, otherSideName } from "./tables/link-name.ts";
export { type LinkTable, linkRelations, linkTable } from "./tables/link-table.ts";
export { LIVE_SUFFIX, liveUniqueName, liveUniqueNames } from "./tables/live-unique-name.ts";
export { misfitsOf } from "./tables/misfits.ts";
export { printedUniqueKeys, uniqueColumnsOf } from "./tables/printed-unique-keys.ts";
