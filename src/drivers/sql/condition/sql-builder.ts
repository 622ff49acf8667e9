import type { Kysely, Sql } from "kysely";
import type { Provider } from "../../../entity/index.ts";
import type { ExactCollation } from "./exact-collation.ts";

/** Tables by name; which there are is known when the app starts, not when this is compiled. */
export type Tables = Record<string, Record<string, unknown>>;

/** What statements are written with. */
export interface SqlBuilder {
  readonly provider: Provider;
  readonly db: Kysely<Tables>;
  readonly sql: Sql;
  /** MySQL only: how its columns compare text. */
  readonly collation: ExactCollation | undefined;
}

/**
 * What statements are written with. Kysely is loaded here, because apps without a database need not wait for it.
 * @param schema Schema of the tables. @default none is named
 * @param collation MySQL only: how its columns compare text
 */
export async function createSqlBuilder(
  provider: Provider,
  schema: string | undefined,
  collation: ExactCollation | undefined,
): Promise<SqlBuilder> {
  const { createStatementWriter } = await import("./statement-writer.ts");
  const { db, sql } = createStatementWriter<Tables>(provider);
  return { provider, collation, sql, db: schema === undefined ? db : db.withSchema(schema) };
}
