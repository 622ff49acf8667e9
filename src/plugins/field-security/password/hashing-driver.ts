import {
  type Driver,
  type DriverCapabilities,
  type Middleware,
  type Row,
  soleId,
  type Update,
  withMiddleware,
} from "../../../gate/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import type { PasswordHasher } from "./create-password-hasher.ts";
import { hashColumns } from "./hash-columns.ts";
import type { PasswordColumn } from "./password-columns.ts";

/** What passwords are hashed by. */
export interface PasswordHashing {
  /** By the entity's name. */
  readonly columns: ReadonlyMap<string, readonly PasswordColumn[]>;
  readonly hasher: PasswordHasher;
  /** What the driver says of itself. */
  readonly capabilities: Partial<DriverCapabilities>;
}

/**
 * A driver that takes passwords in clear and stores their hashes, for code that writes without an operation. An update
 * with a password takes the id of one record: several would get the same salt and hash, which says whose passwords are
 * the same.
 */
export function hashingDriver(inner: Driver, { columns, hasher, capabilities }: PasswordHashing): Driver {
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
  return withMiddleware(inner, middleware, { joins: true, capabilities });
}

function refuseShared({ entity, where, data }: Update, columns: readonly PasswordColumn[]): void {
  const isNew = columns.some(({ name }) => data[name] !== undefined && data[name] !== null);
  if (isNew && soleId(where) === undefined)
    throw new BadRequestError(
      `${entity.name}: records would share one hash of a password; update them one by one, each by its id`,
    );
}
