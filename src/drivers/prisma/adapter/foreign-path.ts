import { ConfigurationError, type Provider } from "../../../entity/index.ts";
import { NEVER } from "../../../gate/index.ts";
import {
  type Fast,
  misfitsOf,
  PrismaFailure,
  readCatalog,
  type SqlConnection,
  type SqlPath,
  selectionOf,
  selectQuery,
  sqlPath,
  toKeelsonError,
} from "../../sql/index.ts";

const MISSING = new Set(["P2021", "P2022"]);
/** What SQLite says of any statement that it cannot compile. */
const SQLITE_ERROR = "1";

function isMisfit({ code, sqlState }: PrismaFailure, provider: Provider): boolean {
  return MISSING.has(code) || (provider === "sqlite" && sqlState === SQLITE_ERROR);
}

/**
 * Asks each table for its columns, and for no rows.
 * @throws ConfigurationError naming every entity whose table or columns have another name; DatabaseUnavailableError
 */
async function checkTables(connection: SqlConnection): Promise<void> {
  const { client, model, planOf } = connection;
  const problems: string[] = [];
  for (const { name } of model.entities) {
    const plan = planOf(name);
    const query = selectQuery(connection, plan, selectionOf(connection, plan), { condition: NEVER });
    try {
      await client.queryRaw(query);
    } catch (error) {
      const statement = { model: name, operation: "connect" };
      if (!isMisfit(new PrismaFailure(error, statement), connection.dialect.provider))
        throw toKeelsonError(error, statement, model);
      problems.push(`there is no table "${name}", or it does not have all columns of the entity`);
    }
  }
  if (problems.length === 0) return;
  throw new ConfigurationError([
    ...problems,
    "with { adapter }, tables and columns are called after models and fields; leave it out for models with @@map or @map",
  ]);
}

/**
 * Compares the columns of tables that were found with the entities.
 * @throws ConfigurationError naming each column that would give back other values, or keep records from being created
 */
async function checkColumns({ client, model, dialect: { provider }, schema }: SqlConnection): Promise<void> {
  const catalog = await readCatalog(client, provider, schema);
  const problems = misfitsOf({ model, provider, catalog });
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** Statements in SQL on tables that Keelson has not made: `prepare` compares them with the entities first. */
export function foreignPath(fast: Fast): SqlPath {
  const path = sqlPath(fast);
  return Object.freeze({
    ...path,
    async prepare(opened, context) {
      const connection = await path.prepare(opened, context);
      await checkTables(connection);
      await checkColumns(connection);
      return connection;
    },
  } satisfies SqlPath);
}
