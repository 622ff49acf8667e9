import { type Driver, type Middleware, type Row, soleId, type Update, withMiddleware } from "../../../gate/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import { PROTECTED } from "../encryption/protected-driver.ts";
import type { PasswordColumn } from "./password-cost.ts";
import type { PasswordHasher } from "./password-hasher.ts";

/**
 * A driver that hashes passwords before it stores them, for code that writes without an operation. An update with a
 * password must name the id of one record: several records would share one salt and hash, which reveals that their
 * passwords are equal.
 * @param columns by entity name
 */
export function hashingDriver(
  inner: Driver,
  columns: ReadonlyMap<string, readonly PasswordColumn[]>,
  hasher: PasswordHasher,
): Driver {
  const middleware: Middleware = async (statement, next) => {
    if (statement.kind !== "insert" && statement.kind !== "update") return next(statement);
    const own = columns.get(statement.entity.name);
    if (own === undefined) return next(statement);
    if (statement.kind === "update") {
      refuseShared(statement, own);
      return next({ ...statement, data: await hashColumns(hasher, own, statement.data) });
    }
    const rows: Row[] = [];
    // One after the other: the queue is limited, and users who log in wait in it, too.
    for (const row of statement.rows) rows.push(await hashColumns(hasher, own, row));
    return next({ ...statement, rows });
  };
  return withMiddleware(inner, middleware, { joins: true, capabilities: PROTECTED });
}

function refuseShared({ entity, where, data }: Update, columns: readonly PasswordColumn[]): void {
  const isNew = columns.some(({ name }) => data[name] !== undefined && data[name] !== null);
  if (isNew && soleId(where) === undefined)
    throw new BadRequestError(
      `${entity.name}: records would share one hash of a password; update them one by one, each by its id`,
    );
}

/**
 * A copy of a row with its passwords hashed. A text that looks like a hash is hashed, too.
 * @param signal ends the wait for a turn
 * @throws BadRequestError for values that cannot be a password
 * @throws UnavailableError when too many passwords wait, or the signal is aborted before its turn
 */
export async function hashColumns(
  hasher: PasswordHasher,
  columns: readonly PasswordColumn[],
  data: Row,
  signal?: AbortSignal,
): Promise<Row> {
  const given = columns.filter(({ name }) => data[name] !== undefined && data[name] !== null);
  if (given.length === 0) return data;
  const hashes = await Promise.all(
    given.map(async ({ name, cost }) => [name, await hasher.hash(data[name] as string, { cost, signal })] as const),
  );
  return { ...data, ...Object.fromEntries(hashes) };
}
