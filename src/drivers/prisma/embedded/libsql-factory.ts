import { createRequire } from "node:module";
import type { ArgType, SqlQuery, SqlResultSet } from "@prisma/driver-adapter-utils";
import { absent } from "../engine/opening.ts";
import type { SqliteFactory } from "./sqlite-adapter.ts";

// Prisma's adapter for libsql also loads libsql's clients for remote databases, which takes three times as long as
// loading the client for files; and that client creates each row twice. This module uses the `libsql` package below it
// directly, which Prisma's adapter depends on.

/** The parts of the `libsql` package that are used; its interface is that of better-sqlite3. */
interface LibsqlStatement {
  raw(on: boolean): void;
  safeIntegers(on: boolean): void;
  columns(): readonly { readonly name: string; readonly type: string | null }[];
  all(parameters: readonly unknown[]): unknown[][];
  run(parameters: readonly unknown[]): { readonly changes: number };
}
interface LibsqlDatabase {
  prepare(sql: string): LibsqlStatement;
  exec(sql: string): void;
  close(): void;
}
/** The export of the package. */
export type Libsql = new (path: string) => LibsqlDatabase;

/**
 * Loads the package as a dependency of Prisma's adapter, since this package may not be able to resolve it.
 * @throws Error of Node when a package is not installed
 */
export function requireLibsql(): Libsql {
  const ours = createRequire(import.meta.url);
  const adapters = createRequire(ours.resolve("@prisma/adapter-libsql"));
  const clients = createRequire(adapters.resolve("@libsql/client"));
  return clients("libsql") as Libsql;
}

/** Connections to a SQLite file, in the form of Prisma's adapter. */
export function libsqlFactory(Database: Libsql, path: string): SqliteFactory {
  const names = { provider: "sqlite", adapterName: "@prisma/adapter-libsql" } as const;
  return {
    ...names,
    async connect() {
      const database = new Database(path);
      return {
        ...names,
        queryRaw: (query) => attempt(() => execute(database, query)),
        executeRaw: (query) => attempt(() => execute(database, query).changes),
        executeScript: (script) => attempt(() => database.exec(script)),
        dispose: async () => database.close(),
      };
    },
  };
}

/** Converts a parameter for SQLite. The forms are those that the schema engine and Prisma's client write. */
function toParameter(value: unknown, { scalarType }: ArgType): unknown {
  if (typeof value === "boolean") return value ? 1 : 0;
  const moment = scalarType === "datetime" && typeof value === "string" ? new Date(value) : value;
  if (moment instanceof Date) return moment.toISOString().replace("Z", "+00:00");
  if (typeof value === "string" && scalarType === "bigint") return BigInt(value);
  if (typeof value === "string" && scalarType === "decimal") return Number.parseFloat(value);
  return value;
}

const INTEGER = /^(?:(?:tiny|small|medium|big)?int|integer)$/i;
const MOMENT = /^(?:datetime|timestamp)$/i;

type FromColumn = (value: unknown) => unknown;

function toNumber(value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}
/** Truncates numbers, since SQLite stores any number in an integer column. */
const toInteger: FromColumn = (value) => (typeof value === "number" ? Math.trunc(value) : toNumber(value));
/** Converts numbers, which Prisma's client may be configured to write. */
const toMoment: FromColumn = (value) =>
  typeof value === "number" || typeof value === "bigint" ? new Date(Number(value)).toISOString() : value;

function reading(type: string | null): FromColumn {
  if (type === null) return toNumber;
  if (INTEGER.test(type)) return toInteger;
  return MOMENT.test(type) ? toMoment : toNumber;
}

/** Whether a statement returns rows; `raw` throws if it does not. */
function returnsRows(statement: LibsqlStatement): boolean {
  try {
    statement.raw(true);
    return true;
  } catch {
    return false;
  }
}

/** Runs a statement synchronously, as libsql does. */
function execute(database: LibsqlDatabase, { sql, args, argTypes }: SqlQuery): SqlResultSet & { changes: number } {
  const statement = database.prepare(sql);
  // Otherwise integers beyond 2^53 would silently lose digits.
  statement.safeIntegers(true);
  const parameters = args.map((value, index) => toParameter(value, argTypes[index] as ArgType));
  if (!returnsRows(statement))
    return { columnNames: [], columnTypes: [], rows: [], changes: statement.run(parameters).changes };
  const columns = statement.columns();
  const readings = columns.map(({ type }) => reading(type));
  const rows = statement.all(parameters);
  for (const row of rows)
    for (let index = 0; index < row.length; index++) row[index] = (readings[index] as FromColumn)(row[index]);
  // No types, which only Prisma's client needs; records are read by the entities' columns.
  return { columnNames: columns.map(({ name }) => name), columnTypes: [], rows, changes: 0 };
}

async function attempt<T>(work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    throw await libsqlError(error);
  }
}

/** An error of the `libsql` package. */
interface LibsqlFailure {
  readonly message: string;
  /** SQLite's extended result code. */
  readonly rawCode: number;
}

const CONSTRAINT_PRIMARY_KEY = 1_555;
const CONSTRAINT_UNIQUE = 2_067;
const CONSTRAINT_NOT_NULL = 1_299;
const CONSTRAINT_FOREIGN_KEY = 787;
const CONSTRAINT_TRIGGER = 1_811;
const BUSY = 5;
/** The mask of the basic result code in an extended one. */
const CODE = 0xff;

/** Columns of `UNIQUE constraint failed: user.email, user.realm`. */
function columnsOf(message: string): { readonly fields: readonly string[] } | undefined {
  const list = message.split("constraint failed: ")[1];
  return list === undefined ? undefined : { fields: list.split(", ").map((name) => name.split(".").at(-1) as string) };
}

function kindOf({ message, rawCode }: LibsqlFailure): object {
  if (rawCode === CONSTRAINT_UNIQUE || rawCode === CONSTRAINT_PRIMARY_KEY)
    return { kind: "UniqueConstraintViolation", constraint: columnsOf(message) };
  if (rawCode === CONSTRAINT_NOT_NULL) return { kind: "NullConstraintViolation", constraint: columnsOf(message) };
  if (rawCode === CONSTRAINT_FOREIGN_KEY || rawCode === CONSTRAINT_TRIGGER)
    return { kind: "ForeignKeyConstraintViolation", constraint: { foreignKey: {} } };
  if ((rawCode & CODE) === BUSY) return { kind: "SocketTimeout" };
  if (/^no such table/.test(message)) return { kind: "TableDoesNotExist" };
  return { kind: /^no such column|has no column named /.test(message) ? "ColumnNotFound" : "sqlite" };
}

/**
 * Converts an error of libsql to that of Prisma's adapter, which all drivers of this family read. Other errors are
 * returned unchanged.
 */
async function libsqlError(error: unknown): Promise<unknown> {
  const failure = error as LibsqlFailure;
  if (typeof failure?.rawCode !== "number") return error;
  // Imported lazily, since it is not needed at the start.
  const { DriverAdapterError } = await import("@prisma/driver-adapter-utils").catch(absent);
  const cause = { originalCode: String(failure.rawCode), originalMessage: failure.message, ...kindOf(failure) };
  return new DriverAdapterError(cause as ConstructorParameters<typeof DriverAdapterError>[0]);
}
