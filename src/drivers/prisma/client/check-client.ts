import { type ColumnDefinition, ConfigurationError, type EntityModel, type Provider } from "../../../entity/index.ts";
import type { DriverContext } from "../../../gate/index.ts";
import { DatabaseUnavailableError } from "../../../kernel/index.ts";
import {
  assertDistinct,
  EXACT_COLLATIONS,
  exactCollation,
  printedUniqueKeys,
  tableNames,
  tableOf,
  toKeelsonError,
} from "../../sql/index.ts";
import { prismaTypeOf } from "../schema/prisma-types.ts";
import { delegateOf, modelApi, type StatementClient } from "./client-connection.ts";

/**
 * Compares a client with the entities.
 * @param said the declared database of the client @default detected
 * @param isDirect whether the driver sends its own SQL, bypassing the client
 * @returns the database
 * @throws ConfigurationError; DatabaseUnavailableError
 */
export async function checkClient(
  client: StatementClient,
  { model, log }: DriverContext,
  said: Provider | undefined,
  isDirect: boolean,
): Promise<Provider> {
  warnOfEarlierPrisma(client, log);
  compareModels(client, model, said === undefined ? PROVIDERS : [said]);
  const provider = said ?? (await detectProvider(client));
  if (provider === "mysql") {
    warnOfTakenValues(model, log);
    await checkCollation(client, { model, log }, isDirect);
  }
  return provider;
}

/** The first major version of Prisma whose clients are tested. */
const TESTED_MAJOR = 7;

function warnOfEarlierPrisma(client: StatementClient, log: DriverContext["log"]): void {
  const { _clientVersion: version } = client as { readonly _clientVersion?: unknown };
  if (typeof version !== "string" || Number.parseInt(version, 10) >= TESTED_MAJOR) return;
  log.warn(
    `The client is of Prisma ${version}, and only Prisma ${TESTED_MAJOR} is tested; upgrade it before production`,
  );
}

/** A field as a client describes it. */
interface ClientField {
  readonly typeName?: string;
  readonly isList?: boolean;
  readonly isEnum?: boolean;
}

const PROVIDERS: readonly Provider[] = ["postgresql", "mysql", "sqlite"];

/**
 * @param providers the databases that the client may be for
 * @throws ConfigurationError naming every model and field that the client does not have, or has with another type
 */
function compareModels(client: StatementClient, model: EntityModel, providers: readonly Provider[]): void {
  const problems: string[] = [];
  assertDistinct(model);
  for (const entity of model.entities) {
    const fields = modelApi(client, { delegate: delegateOf(entity) })?.fields;
    if (fields === undefined) {
      problems.push(`the Prisma client has no model "${entity.name}"`);
      continue;
    }
    const known = new Set(Object.keys(fields)); // `fields` is a proxy that has every name
    for (const column of Object.values(entity.columns)) {
      if (column.parts !== undefined) continue;
      const at = `model ${entity.name} of the Prisma client has`;
      const problem = known.has(column.name)
        ? typeProblem(at, column, fields[column.name] as ClientField, providers)
        : `${at} no field "${column.name}"`;
      if (problem !== undefined) problems.push(problem);
    }
  }
  if (problems.length === 0) return;
  throw new ConfigurationError([
    ...problems,
    "toPrismaSchema(entities, { provider }) prints a schema that fits; run `prisma generate` after changing yours. On PostgreSQL and SQLite, postgres(url) and embedded({ file }) need no client",
  ]);
}

/** Types of columns that may be Prisma enums. */
const WORDS: ReadonlySet<string> = new Set(["String", "Enum"]);

/** Returns the problem of the type of a client's field, if any. Prisma compares enum values by equality, like texts. */
function typeProblem(
  at: string,
  { name, role, kind, field }: ColumnDefinition,
  found: ClientField,
  providers: readonly Provider[],
): string | undefined {
  const { scalar, items } = kind.column;
  const expected = providers.map((provider) => prismaTypeOf({ role, kind }, provider).type);
  const { typeName, isList, isEnum = false } = found;
  // Generated clients do not report which fields are lists.
  const isAsListed = isList === undefined || isList === (items !== undefined);
  const isWord = isEnum && WORDS.has(items?.scalar ?? scalar);
  const isKnown = isWord || expected.some((type) => type.replace("[]", "") === typeName);
  if (typeName === undefined || (isAsListed && isKnown)) return undefined;
  const remedy = field === undefined ? "" : ", or declare another field";
  return `${at} "${name}" of the type ${typeName}${isList ? "[]" : ""}, and ${expected[0]} is expected; change the column's type${remedy}`;
}

/** The results of `version()`. Databases with PostgreSQL's protocol are treated like it. */
const ANSWERS: readonly (readonly [RegExp, Provider])[] = [
  [/PostgreSQL|CockroachDB|Yugabyte/i, "postgresql"],
  [/MariaDB|^\d+\.\d+/i, "mysql"],
];

/** PrismaClient does not report its database, so the driver reads the database's version. */
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

async function answerTo(client: StatementClient, sql: string): Promise<string | undefined> {
  try {
    return String((await client.$queryRawUnsafe(sql))[0]?.version);
  } catch (error) {
    const known = toKeelsonError(error, { operation: "connect" });
    if (known instanceof DatabaseUnavailableError) throw known;
    return undefined;
  }
}

/** Warns that softly deleted records keep their unique values, since MySQL has no partial indexes. */
function warnOfTakenValues(model: EntityModel, log: DriverContext["log"]): void {
  for (const entity of model.entities) {
    const keys = entity.softDelete === undefined ? [] : printedUniqueKeys(model, entity);
    if (keys.length === 0) continue;
    log.warn("MySQL cannot free the unique values of records that are softly deleted", {
      entity: entity.name,
      fields: keys.map((columns) => columns.join(", ")),
    });
  }
}

/** Columns whose text compares inexactly. JSON has its own collation in MariaDB, and is never compared. */
const INEXACT = `SELECT TABLE_NAME AS \`table\`, COLUMN_NAME AS \`column\`, VERSION() AS version
  FROM information_schema.COLUMNS
  WHERE TABLE_SCHEMA = DATABASE() AND COLLATION_NAME IS NOT NULL AND COLLATION_NAME NOT IN ('${EXACT_COLLATIONS.join("', '")}')`;

/**
 * Refuses tables of MySQL and MariaDB that compare text inexactly. A rule would let callers reach records whose ids or
 * names differ only in case, and a token would match a different one. Existing tables keep their collation if the
 * driver's own statements compare exactly.
 * @throws ConfigurationError naming the tables and the remedy
 */
async function checkCollation(
  client: StatementClient,
  { model, log }: Pick<DriverContext, "model" | "log">,
  isDirect: boolean,
): Promise<void> {
  const existing = new Set(model.entities.filter((entity) => entity.existing).map(tableOf));
  const ours = textColumns(model);
  const rows = await client.$queryRawUnsafe(INEXACT).catch((error: unknown) => {
    throw toKeelsonError(error, { operation: "connect" });
  });
  const found = rows.filter(({ table, column }) => ours.has(`${String(table)}.${String(column)}`));
  const tables = [...new Set(found.map(({ table }) => String(table)))];
  const kept = isDirect ? tables.filter((table) => existing.has(table)) : [];
  if (kept.length > 0)
    log.warn("Existing tables compare text inexactly; statements compare it exactly, and sort by it without an index", {
      tables: kept,
    });
  const refused = tables.filter((table) => !kept.includes(table));
  if (refused.length === 0) return;
  const collation = exactCollation(found[0]?.version);
  throw new ConfigurationError(
    refused.map((table) => {
      const remedy = existing.has(table)
        ? ", or give the driver the client's adapter: prisma(client, { adapter })"
        : "";
      return `table "${table}" compares text without regard to case or to spaces at the end; give it COLLATE ${collation}${remedy} (docs/guides/migrations.md, "MySQL and MariaDB")`;
    }),
  );
}

function textColumns(model: EntityModel): ReadonlySet<string> {
  const columns = model.entities.flatMap((entity) =>
    Object.values(entity.columns)
      .filter(({ kind }) => kind.column.scalar === "String")
      .map(({ stored }) => `${tableOf(entity)}.${stored}`),
  );
  const links = tableNames(model).flatMap((table) => [`${table}.A`, `${table}.B`]);
  return new Set([...columns, ...links]);
}
