import { ConfigurationError, type EntityModel } from "../../../entity/index.ts";
import { EXACT_COLLATIONS, exactCollation, toKeelsonError } from "../../sql/index.ts";
import { tableNames } from "../schema/relation-sides.ts";
import type { StatementClient } from "./words/client-shape.ts";

/** Columns whose text compares inexactly. JSON has a collation of its own in MariaDB, and is never compared. */
const INEXACT = `SELECT TABLE_NAME AS \`table\`, COLUMN_NAME AS \`column\`, VERSION() AS version
  FROM information_schema.COLUMNS
  WHERE TABLE_SCHEMA = DATABASE() AND COLLATION_NAME IS NOT NULL AND COLLATION_NAME NOT IN ('${EXACT_COLLATIONS.join("', '")}')`;

function textColumns(model: EntityModel): ReadonlySet<string> {
  const columns = model.entities.flatMap((entity) =>
    Object.values(entity.columns)
      .filter(({ kind }) => kind.column.scalar === "String")
      .map(({ name }) => `${entity.name}.${name}`),
  );
  const links = tableNames(model).flatMap((table) => [`${table}.A`, `${table}.B`]);
  return new Set([...columns, ...links]);
}

/**
 * Refuses tables of MySQL and MariaDB that take different texts for the same. A rule would then let callers reach records
 * of others whose ids or names differ in case only, and a token would pass for another one.
 * @throws ConfigurationError naming the tables and the collation that they need
 */
export async function checkCollation(client: StatementClient, model: EntityModel): Promise<void> {
  const ours = textColumns(model);
  const rows = await client.$queryRawUnsafe(INEXACT).catch((error: unknown) => {
    throw toKeelsonError(error, { operation: "connect" });
  });
  const inexact = rows.filter(({ table, column }) => ours.has(`${String(table)}.${String(column)}`));
  if (inexact.length === 0) return;
  const collation = exactCollation(inexact[0]?.version);
  throw new ConfigurationError(
    [...new Set(inexact.map(({ table }) => String(table)))].map(
      (table) =>
        `table "${table}" compares text without regard to case or to spaces at the end; give it COLLATE ${collation} (docs/guides/migrations.md, "MySQL and MariaDB")`,
    ),
  );
}
