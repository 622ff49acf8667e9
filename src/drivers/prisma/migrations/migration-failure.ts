import { ConfigurationError } from "../../../entity/index.ts";
import { DatabaseUnavailableError } from "../../../kernel/index.ts";
import { PrismaFailure, toKeelsonError } from "../../sql/index.ts";

/** What the databases say when a script fails, by SQLSTATE or by their own words; the words may quote values. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^23505|^UniqueConstraintViolation/, "rows share a value that it makes unique"],
  [/^23502|^NullConstraintViolation/, "rows have no value for a column that it makes required"],
  [/^23503|^ForeignKeyConstraintViolation|keelson_guard/, "rows would refer to records that do not exist"],
  [/^42P07|^42701|^42710|already exists|^duplicate column/, "something that it makes exists already"],
  [/^42P01|^42703|^42704|^(TableDoesNotExist|ColumnNotFound)|no such/, "something that it changes does not exist"],
  [/^42601|syntax error/, "its SQL has a mistake"],
  [/^25001/, "it has a statement that only runs on its own; give that statement a migration of its own"],
];

interface Failure {
  readonly code?: unknown;
  readonly message?: unknown;
  /** PostgreSQL's: where in the script, counted from 1. */
  readonly position?: unknown;
  readonly cause?: { readonly kind?: unknown; readonly message?: unknown };
}

function reasonOf({ code, message, cause }: Failure): string | undefined {
  const words = [code, cause?.kind, cause?.message, message].filter((word) => typeof word === "string");
  return REASONS.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1];
}

/** The line that the database points at. */
function lineOf({ position }: Failure, sql: string): string {
  const at = Number(position);
  return Number.isInteger(at) ? `, line ${sql.slice(0, at - 1).split("\n").length}` : "";
}

/** Why a migration failed, without a word of the database's. */
export function migrationFailure(
  error: unknown,
  { name, sql }: { readonly name: string; readonly sql: string },
  outcome: string,
): Error {
  const known = toKeelsonError(error, { operation: "migrate" });
  if (known instanceof DatabaseUnavailableError) return known;
  const failure = (typeof error === "object" && error !== null ? error : {}) as Failure;
  const cause = new PrismaFailure(error, { operation: "migrate" });
  const reason = reasonOf(failure) ?? `the database refuses it (${cause.sqlState ?? cause.code})`;
  return new ConfigurationError(`migration ${name}${lineOf(failure, sql)}: ${reason}; ${outcome}`, { cause });
}
