import { ConfigurationError } from "../../entity/index.ts";
import { NEVER } from "../../gate/index.ts";
import {
  ALL_FAST,
  findMisfits,
  PrismaFailure,
  type SqlConnection,
  type SqlPath,
  selectionOf,
  selectQuery,
  sqlPath,
  toKeelsonError,
} from "../sql/index.ts";

const SQL_PATH = sqlPath(ALL_FAST);

/** SQL statements on tables that Keelson did not make: `prepare` compares them with the entities first. */
export const FOREIGN_PATH: SqlPath = Object.freeze({
  ...SQL_PATH,
  async prepare(opened, context) {
    const connection = await SQL_PATH.prepare(opened, context);
    await checkTables(connection);
    const { client, model, dialect, schema } = connection;
    const problems = await findMisfits(client, { model, provider: dialect.provider, schema }, false);
    if (problems.length > 0) throw new ConfigurationError(problems);
    return connection;
  },
} satisfies SqlPath);

/**
 * Selects the columns of each table, without rows.
 * @throws ConfigurationError naming every entity whose table or columns have another name; DatabaseUnavailableError
 */
async function checkTables(connection: SqlConnection): Promise<void> {
  const { client, model, dialect } = connection;
  const problems: string[] = [];
  for (const entity of model.entities) {
    const query = selectQuery(connection, entity, selectionOf(connection, entity), { condition: NEVER });
    try {
      await client.queryRaw(query);
    } catch (error) {
      const statement = { model: entity.name, operation: "connect" };
      const { code, sqlState } = new PrismaFailure(error, statement);
      const isMissing = code === "P2021" || code === "P2022";
      // SQLite reports code 1 for any statement that it cannot compile.
      if (!isMissing && !(dialect.provider === "sqlite" && sqlState === "1"))
        throw toKeelsonError(error, statement, model);
      problems.push(`there is no table "${entity.name}", or it does not have all columns of the entity`);
    }
  }
  if (problems.length === 0) return;
  throw new ConfigurationError([
    ...problems,
    "with { adapter }, tables and columns are called after models and fields; leave it out for models with @@map or @map",
  ]);
}
