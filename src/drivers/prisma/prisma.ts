import type { SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import { type ColumnDefinition, ConfigurationError, type EntityModel, type Provider } from "../../entity/index.ts";
import type { Driver, DriverCapabilities } from "../../gate/index.ts";
import { DatabaseUnavailableError, type Logger } from "../../kernel/index.ts";
import { ADAPTER_PROVIDERS, type AnyAdapterFactory } from "./adapter-shape.ts";
import { checkCollation } from "./check-collation.ts";
import { type AnyPrismaClient, type Client, modelApi, type StatementClient } from "./client-shape.ts";
import { type ClientConnection, createClientConnection } from "./connection.ts";
import { createPrismaDriver, type Path } from "./create-prisma-driver.ts";
import { DIALECTS } from "./dialect.ts";
import { compilePlans } from "./entity-plan.ts";
import { clientExecutor } from "./execute-by-client.ts";
import type { Transact } from "./run-transaction.ts";
import { printedUniqueKeys } from "./schema/unique-keys.ts";
import { FOREIGN_SQL_PATH } from "./sql/sql-path.ts";
import { toKeelsonError } from "./to-keelson-error.ts";

/** What databases answer to `version()`; those that speak PostgreSQL's protocol behave like it here. */
const ANSWERS: readonly (readonly [RegExp, Provider])[] = [
  [/PostgreSQL|CockroachDB|Yugabyte/i, "postgresql"],
  [/MariaDB|^\d+\.\d+/i, "mysql"],
];

async function answerTo(client: StatementClient, sql: string): Promise<string | undefined> {
  try {
    return String((await client.$queryRawUnsafe(sql))[0]?.version);
  } catch (error) {
    const known = toKeelsonError(error, { operation: "connect" });
    if (known instanceof DatabaseUnavailableError) throw known;
    return undefined;
  }
}

/**
 * The database behind a client. Prisma tells nobody, so the database is asked for its version.
 * @throws DatabaseUnavailableError; ConfigurationError when the answer means nothing to us
 */
async function detectProvider(client: StatementClient): Promise<Provider> {
  const version = await answerTo(client, "SELECT version() AS version");
  if (version === undefined) {
    if ((await answerTo(client, "SELECT sqlite_version() AS version")) !== undefined) return "sqlite";
  } else {
    const found = ANSWERS.find(([pattern]) => pattern.test(version));
    if (found !== undefined) return found[1];
  }
  throw new ConfigurationError(
    'prisma() cannot tell which database the client talks to; say so: prisma(client, { provider: "postgresql" })',
  );
}

/** Prisma keeps its own, later clock, so that ours decides what the error says. */
const PRISMA_GRACE_MS = 1_000;

/** A transaction of a PrismaClient. */
const clientTransaction: Transact<StatementClient, Client> = (client, body, limits) =>
  client.$transaction(body, {
    timeout: limits.timeout + PRISMA_GRACE_MS,
    maxWait: limits.maxWait,
    ...(limits.asksReadCommitted && { isolationLevel: "ReadCommitted" }),
  });

/** Statements through the public API of a PrismaClient. */
const CLIENT_PATH: Path<StatementClient, Client, ClientConnection> = Object.freeze({
  prepare: createClientConnection,
  transact: clientTransaction,
  capabilities: {},
  executor: clientExecutor,
  ping: (client: StatementClient) => client.$queryRawUnsafe("SELECT 1"),
});

/** Options of `prisma`. */
export interface PrismaOptions {
  /** The database behind the client. @default what it answers when asked for its version */
  readonly provider?: Provider | undefined;
  /**
   * The adapter that the client was made with. Statements then go straight to it, in SQL, which takes a fraction of the
   * time; client extensions and query logs do not see them, and tables and columns have to be called after models and
   * fields. Client and driver have a pool of connections each, unless the adapter is a `sharedAdapter`.
   * @default statements go through the client
   */
  readonly adapter?: AnyAdapterFactory | undefined;
}

/**
 * A driver over a PrismaClient of yours, through its public API only. Models, fields and manyToMany relations are called
 * as `toPrismaSchema` prints them, the side of a relation that no entity declares included; the tables are yours to
 * migrate. `api.close()` disconnects the client.
 * @param client A PrismaClient 7, also an extended one
 * @throws ConfigurationError from `connect` when a model, field, table or column is missing, or MySQL would compare text inexactly; at
 *   once for an adapter to a database that no driver serves
 * @example
 * const api = keelson({ entities: [user, post], driver: prisma(new PrismaClient({ adapter }), { adapter }) });
 */
export function prisma(client: AnyPrismaClient, options: PrismaOptions = {}): Driver {
  const typed = client as unknown as Client;
  return options.adapter === undefined
    ? throughClient(typed, options.provider)
    : throughAdapter(typed, options.adapter, options.provider);
}

function capabilitiesOf(provider: () => Provider | undefined, locksInOrder: boolean): DriverCapabilities {
  return Object.freeze({
    /** Known for certain once the driver is connected. */
    get concurrentTransactions() {
      return provider() !== "sqlite";
    },
    locksInOrder,
    durable: true,
  });
}

function throughClient(client: Client, given: Provider | undefined): Driver {
  let provider = given;
  return createPrismaDriver(
    {
      name: "prisma",
      capabilities: capabilitiesOf(() => provider, false),
      async open({ model, log }) {
        checkClient(client, model);
        provider ??= await detectProvider(client);
        if (provider === "mysql") {
          warnOfTakenValues(model, log);
          await checkCollation(client, model);
        }
        return { client, dialect: DIALECTS[provider], close: () => client.$disconnect() };
      },
    },
    CLIENT_PATH,
  );
}

function throughAdapter(client: Client, given: AnyAdapterFactory, said: Provider | undefined): Driver {
  const provider = ADAPTER_PROVIDERS[given.provider];
  if (provider === undefined || (said !== undefined && said !== provider))
    throw new ConfigurationError(
      `prisma(client, { adapter }) takes an adapter for PostgreSQL, SQLite or MySQL; this one is for "${given.provider}"`,
    );
  const factory = given as unknown as SqlDriverAdapterFactory;
  return createPrismaDriver(
    {
      name: "prisma",
      capabilities: capabilitiesOf(() => provider, provider === "postgresql"),
      async open({ model, log }) {
        checkClient(client, model);
        if (provider === "mysql") {
          warnOfTakenValues(model, log);
          await checkCollation(client, model);
        }
        const adapter = await factory.connect();
        async function close(): Promise<void> {
          await client.$disconnect();
          await adapter.dispose();
        }
        return { client: adapter, dialect: DIALECTS[provider], close };
      },
    },
    FOREIGN_SQL_PATH,
  );
}

/** Says that deleted records keep their unique values, where a database has no indexes over some of the rows. */
function warnOfTakenValues(model: EntityModel, log: Logger): void {
  for (const entity of model.entities) {
    const keys = entity.softDelete === undefined ? [] : printedUniqueKeys(model, entity);
    if (keys.length === 0) continue;
    log.warn("MySQL cannot free the unique values of records that are softly deleted", {
      entity: entity.name,
      fields: keys.map((columns) => columns.join(", ")),
    });
  }
}

/** What a client says of a field. */
interface ClientField {
  readonly typeName?: string;
  readonly isList?: boolean;
  readonly isEnum?: boolean;
}

/** What is wrong with the type of a client's field; Prisma compares values of an enum as texts by equality. */
function typeProblem(at: string, { name, kind, field }: ColumnDefinition, found: ClientField): string | undefined {
  const { scalar } = kind.column;
  const { typeName, isList = false, isEnum = false } = found;
  if (typeName === undefined || (!isList && (typeName === scalar || (isEnum && scalar === "String")))) return undefined;
  const remedy = field === undefined ? "" : ", or declare another field";
  return `${at} "${name}" of the type ${typeName}${isList ? "[]" : ""}, and ${scalar} is expected; change the column's type${remedy}`;
}

/**
 * Compares a client's models with the entities.
 * @throws ConfigurationError naming every model and field that the client does not have, or has with another type
 */
function checkClient(client: StatementClient, model: EntityModel): void {
  const problems: string[] = [];
  for (const { entity, delegate } of compilePlans(model).values()) {
    const fields = modelApi(client, delegate)?.fields;
    if (fields === undefined) {
      problems.push(`the Prisma client has no model "${entity.name}"`);
      continue;
    }
    const known = new Set(Object.keys(fields)); // a proxy that says yes to any name it is asked for
    for (const column of Object.values(entity.columns)) {
      const at = `model ${entity.name} of the Prisma client has`;
      const problem = known.has(column.name)
        ? typeProblem(at, column, fields[column.name] as ClientField)
        : `${at} no field "${column.name}"`;
      if (problem !== undefined) problems.push(problem);
    }
  }
  if (problems.length === 0) return;
  throw new ConfigurationError([
    ...problems,
    "toPrismaSchema(entities, { provider }) prints a schema that fits; run `prisma generate` after changing yours",
  ]);
}
