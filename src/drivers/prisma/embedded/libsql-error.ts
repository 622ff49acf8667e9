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
/** The last byte of an extended code is the code itself. */
const CODE = 0xff;

/** Columns of `UNIQUE constraint failed: user.email, user.realm`. */
function columnsOf(message: string): { readonly fields: readonly string[] } | undefined {
  const list = message.split("constraint failed: ")[1];
  return list === undefined ? undefined : { fields: list.split(", ").map((name) => name.split(".").at(-1) as string) };
}

function named(kind: string, message: string, start: RegExp): object | undefined {
  return start.test(message) ? { kind } : undefined;
}

function kindOf({ message, rawCode }: LibsqlFailure): object {
  if (rawCode === CONSTRAINT_UNIQUE || rawCode === CONSTRAINT_PRIMARY_KEY)
    return { kind: "UniqueConstraintViolation", constraint: columnsOf(message) };
  if (rawCode === CONSTRAINT_NOT_NULL) return { kind: "NullConstraintViolation", constraint: columnsOf(message) };
  if (rawCode === CONSTRAINT_FOREIGN_KEY || rawCode === CONSTRAINT_TRIGGER)
    return { kind: "ForeignKeyConstraintViolation", constraint: { foreignKey: {} } };
  if ((rawCode & CODE) === BUSY) return { kind: "SocketTimeout" };
  return (
    named("TableDoesNotExist", message, /^no such table/) ??
    named("ColumnNotFound", message, /^no such column|has no column named /) ?? { kind: "sqlite" }
  );
}

/**
 * An error of libsql as Prisma's adapter reports it, which is what all drivers of this family read. What is no error of
 * the database stays as it is.
 */
export async function libsqlError(error: unknown): Promise<unknown> {
  const failure = error as LibsqlFailure;
  if (typeof failure?.rawCode !== "number") return error;
  // Imported here, since an app that starts has no errors yet.
  const { DriverAdapterError } = await import("@prisma/driver-adapter-utils");
  const cause = { originalCode: String(failure.rawCode), originalMessage: failure.message, ...kindOf(failure) };
  return new DriverAdapterError(cause as ConstructorParameters<typeof DriverAdapterError>[0]);
}
