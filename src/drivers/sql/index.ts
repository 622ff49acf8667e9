// The SQL executor: sessions, transactions, statements and errors of the databases that Prisma's driver adapters
// support. It does not depend on clients or ways to open a database, which are in src/drivers/prisma.

export { codecOf } from "./condition/column-codec.ts";
export {
  createSqlBuilder,
  EXACT_COLLATIONS,
  type ExactCollation,
  exactCollation,
  type SqlBuilder,
} from "./condition/sql-builder.ts";
export { isSqliteBusy, PrismaFailure } from "./errors/prisma-failure.ts";
export { danglingReference, namingDangling, toKeelsonError } from "./errors/to-keelson-error.ts";
export { findMisfits } from "./execute/find-misfits.ts";
export { type SqlPath, sqlPath } from "./execute/sql-path.ts";
export { poolQueries } from "./fast/pool-queries.ts";
export { type ById, byId, readTogether } from "./fast/shared-reads.ts";
export { ALL_FAST, type Fast } from "./fast/switches.ts";
export { adapterLike, runStatement } from "./session/adapter.ts";
export {
  assertDistinct,
  type Connection,
  countsVersion,
  createConnection,
  DIALECTS,
  type Dialect,
  givenColumns,
  type OpenedClient,
} from "./session/connection.ts";
export { createDatabaseDriver, type Path } from "./session/create-database-driver.ts";
export { type Session, whileBusy } from "./session/session.ts";
export { idsQuery } from "./statement/ids-query.ts";
export { assertColumns, orderOf, selectionOf, selectQuery } from "./statement/select-query.ts";
export type { NamedQuery, SqlConnection } from "./statement/sql-connection.ts";
export { listsIds } from "./statement/write-queries.ts";
export { type Catalog, type ColumnShape, columnsQuery, toCatalog } from "./tables/catalog.ts";
export { columnTypeOf, isScaled, isWidening } from "./tables/column-type.ts";
export {
  hiddenName,
  isManaged,
  type LinkTable,
  linkRelations,
  linkTable,
  managedLinks,
  otherSideName,
  tableNames,
} from "./tables/link-table.ts";
export { tableOf } from "./tables/table-names.ts";
export {
  LIVE_SUFFIX,
  liveUniqueName,
  liveUniqueNames,
  printedUniqueKeys,
  shortName,
  uniqueColumnsOf,
} from "./tables/unique-keys.ts";
