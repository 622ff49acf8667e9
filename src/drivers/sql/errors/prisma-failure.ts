import { KeelsonError } from "../../../entity/index.ts";

/** The parts of a statement that its error may contain. */
export interface Subject {
  /** The name of the entity; absent for errors of the whole database. */
  readonly model?: string;
  readonly operation: string;
}

/** Parts of Prisma's errors that contain no values. Prisma's messages contain the arguments, including passwords. */
interface Thrown {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly errorCode?: unknown;
  readonly message?: unknown;
  /** Set for an adapter's error that PrismaClient has not wrapped: of SQL sent to the adapter, or of a failed BEGIN. */
  readonly cause?: unknown;
  readonly meta?: {
    readonly target?: unknown;
    readonly driverAdapterError?: { readonly cause?: AdapterCause };
  };
}

interface AdapterCause {
  readonly kind?: unknown;
  readonly originalCode?: unknown;
  /** Set by Prisma's own adapters for SQLite. */
  readonly extendedCode?: unknown;
  readonly code?: unknown;
  readonly originalMessage?: unknown;
  readonly constraint?: { readonly fields?: unknown; readonly index?: unknown };
}

/** The columns of a constraint: by name, or by the name of its index. */
export interface Constraint {
  readonly fields: readonly string[] | undefined;
  readonly index: string | undefined;
}

/**
 * The safe parts of an error of Prisma or of a layer below: name, code, model and operation. The message is kept only
 * for connection errors and failed checks, which contain no values. It is the `cause` of Keelson errors, for the log.
 */
export class PrismaFailure extends KeelsonError {
  /** The database's own code: an SQLSTATE, or SQLite's number. */
  readonly sqlState: string | undefined;
  /** The setting that fixes a known failure. */
  readonly remedy: string | undefined;

  constructor(error: unknown, { model, operation }: Subject) {
    const thrown = asThrown(error);
    const cause = adapterCauseOf(thrown);
    const stale = isStalePlan(cause) ? STALE_PLAN : undefined;
    const code =
      stale ?? codeOfKind(cause) ?? text(thrown.code) ?? text(thrown.errorCode) ?? plainFailure(thrown) ?? "UNKNOWN";
    const sqlState = text(cause?.originalCode) ?? text(cause?.code);
    const what = model === undefined ? operation : `${model}.${operation}`;
    const said = safeSentence(thrown, code, sqlState);
    const remedy = remedyFor(sqlState, said);
    const facts = [what, text(thrown.name) ?? typeof error, code, sqlState].filter(Boolean).join(" ");
    super(code, 500, [facts, said, remedy].filter(Boolean).join(": "));
    this.sqlState = sqlState;
    this.remedy = remedy;
  }
}

/** The code for a PostgreSQL statement that was prepared before a migration changed the types of its result. */
export const STALE_PLAN = "STALE_PLAN";

function isStalePlan(cause: AdapterCause | undefined): boolean {
  return (
    cause?.originalCode === "0A000" && /cached plan must not change result type/.test(text(cause.originalMessage) ?? "")
  );
}

function asThrown(error: unknown): Thrown {
  return typeof error === "object" && error !== null ? (error as Thrown) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Codes for adapter errors; Prisma uses the same code (P2010) for all failed raw statements. */
const CODES: Readonly<Record<string, string>> = {
  LengthMismatch: "P2000",
  UniqueConstraintViolation: "P2002",
  ForeignKeyConstraintViolation: "P2003",
  RestrictViolation: "P2003",
  NullConstraintViolation: "P2011",
  ValueOutOfRange: "P2020",
  TableDoesNotExist: "P2021",
  ColumnNotFound: "P2022",
  AuthenticationFailed: "P1000",
  DatabaseNotReachable: "P1001",
  DatabaseDoesNotExist: "P1003",
  SocketTimeout: "P1008",
  DatabaseAccessDenied: "P1010",
  TlsConnectionError: "P1011",
  ConnectionClosed: "P1017",
  TooManyConnections: "P2037",
  TransactionWriteConflict: "P2034",
};

/**
 * MySQL's and MariaDB's numbers of errors that their adapter does not map: a row that others have changed or locked, a
 * server that shuts down, and unavailable connections.
 */
const MYSQL_CODES: Readonly<Record<string, string>> = {
  1020: "P2034",
  1053: "P1017",
  1158: "P1017",
  1205: "P2034",
  1927: "P1017",
  45009: "P1017",
  45012: "P1001",
  45013: "P1017",
  45027: "P1017",
  45028: "P2024",
};

/** The code for values that a CHECK constraint does not accept. */
export const CHECK_FAILED = "CHECK_FAILED";
/** The databases' own sentences for it, which name the constraint. Triggers may use the same code with other sentences. */
const FAILED_CHECK =
  /violates check constraint "[^"]*"|^CHECK constraint failed: .{0,100}|^CONSTRAINT `[^`]*` failed|^Check constraint '[^']*' is violated/;
/** The databases' own codes for it: of PostgreSQL, SQLite, MariaDB and MySQL. */
const CHECK_CODES: ReadonlySet<unknown> = new Set(["23514", "275", "4025", "3819"]);

/** SQLite's codes for a file that cannot be written: a full disk, a failing disk, a read-only file. */
const SQLITE_CODES: Readonly<Record<number, string>> = { 8: "NO_WRITES", 10: "NO_WRITES", 13: "NO_WRITES" };
/** The mask of the basic result code in an extended one. */
const SQLITE_CODE = 0xff;

function codeOfKind(cause: AdapterCause | undefined): string | undefined {
  const kind = cause?.kind;
  if (CHECK_CODES.has(String(cause?.extendedCode ?? cause?.originalCode))) return CHECK_FAILED;
  if (kind === "mysql") return MYSQL_CODES[String(cause?.originalCode)];
  if (kind === "sqlite") return SQLITE_CODES[Number(cause?.extendedCode ?? cause?.originalCode) & SQLITE_CODE];
  return typeof kind === "string" && Object.hasOwn(CODES, kind) ? CODES[kind] : undefined;
}

function adapterCauseOf({ name, meta, cause }: Thrown): AdapterCause | undefined {
  if (name === "DriverAdapterError" && typeof cause === "object" && cause !== null) return cause;
  return meta?.driverAdapterError?.cause;
}

/**
 * SQLSTATEs of connection failures: it breaks, is refused, exceeds a limit, requests another database or setting, is
 * closed by the server, or does not know a prepared statement. Their messages contain users, databases and addresses,
 * but no values.
 */
const CONNECTION_STATE = /^(08|28|3D|53|57P|26000$|42P05$|42704$|57014$)/;
const CONNECTION_CODE = /^(ECONN[A-Z]+|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EPIPE|EAI_AGAIN|NO_CONNECTION|P1\d{3})$/;

/**
 * The server's or the network's message of a connection failure, or that of a failed CHECK, which names the constraint.
 */
function safeSentence(thrown: Thrown, code: string, sqlState: string | undefined): string | undefined {
  if (code === CHECK_FAILED) return FAILED_CHECK.exec(text(adapterCauseOf(thrown)?.originalMessage) ?? "")?.[0];
  if (sqlState === undefined ? !CONNECTION_CODE.test(code) : !CONNECTION_STATE.test(sqlState)) return undefined;
  // Prisma's own messages contain arguments; the messages below do not.
  const own = text(thrown.name)?.startsWith("Prisma") ? undefined : thrown.message;
  return text(text(adapterCauseOf(thrown)?.originalMessage) ?? own)
    ?.split("\n", 1)[0]
    ?.slice(0, 300);
}

/**
 * Whether a statement is nested too deeply for the database: SQLite has only a message for it, PostgreSQL has a code.
 */
export function isTooDeep(error: unknown): boolean {
  const cause = adapterCauseOf(asThrown(error));
  const said = text(cause?.originalMessage) ?? "";
  return cause?.originalCode === "54001" || /parser stack overflow|Expression tree is too large/i.test(said);
}

/** The setting to change if a pooler is between the app and the server. */
function remedyFor(sqlState: string | undefined, said = ""): string | undefined {
  if (/unsupported startup parameter|unrecognized configuration parameter/i.test(said))
    return "a pooler such as PgBouncer refuses settings that come with a connection; let it ignore them (ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout), or set statementTimeout and idleTransactionTimeout to 0";
  if (sqlState === "26000" || sqlState === "42P05")
    return "a pooler in transaction mode shares connections, and with them prepared statements; set preparedStatements: false";
  return undefined;
}

/** Messages of the pool and its connections, without a code, when no connection is available. */
const NO_CONNECTION =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|not queryable|after calling end/;

/** Failures without a code: a panic of Prisma's query compiler, and missing connections. */
function plainFailure({ name, message }: Thrown): string | undefined {
  if (name === "PrismaClientRustPanicError") return "PANIC";
  return NO_CONNECTION.test(String(message)) ? "NO_CONNECTION" : undefined;
}

/** Whether SQLite reports that another connection is writing. */
export function isSqliteBusy(error: unknown): boolean {
  return codeOfKind(adapterCauseOf(asThrown(error))) === "P1008";
}

/** Whether Prisma timed out waiting for a connection to begin a transaction. */
export function isTransactionStartTimeout(error: unknown): boolean {
  const { code, message } = asThrown(error);
  return code === "P2028" && /Unable to start a transaction in the given time/.test(String(message));
}

/** The constraint that an error names, if any. */
export function constraintOf(error: unknown): Constraint {
  const thrown = asThrown(error);
  const constraint = adapterCauseOf(thrown)?.constraint;
  const fields = constraint?.fields ?? thrown.meta?.target;
  return {
    fields: Array.isArray(fields) ? fields.filter((field) => typeof field === "string") : undefined,
    index: text(constraint?.index) ?? text(thrown.meta?.target),
  };
}
