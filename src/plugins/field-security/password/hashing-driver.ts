import { type Driver, type Middleware, type Row, soleId, type Update, withMiddleware } from "../../../gate/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import { PROTECTED } from "../encryption/protected-driver.ts";
import type { PasswordColumn } from "./password-cost.ts";
import type { PasswordHasher } from "./password-hasher.ts";

/**
 * A driver that takes passwords in clear and stores their hashes, for code that writes without an operation. An update
 * with a password takes the id of one record: several would get the same salt and hash, which says whose passwords are
 * the same.
 * @param columns by the entity's name
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
    // One after the other: the queue has an end, and people who log in wait in it too.
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
 * A copy of what is to be stored with its passwords hashed, whatever they look like: a text in the form of a hash is
 * hashed like any other.
 * @param signal ends the wait for a turn
 * @throws BadRequestError for what cannot be a password
 * @throws UnavailableError when too many wait, or the signal is aborted before its turn
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
