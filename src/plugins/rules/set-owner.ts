import type { AnyEntity } from "../../entity/index.ts";
import { asReader, isNestedWrite, type Operation, type OperationKind, type Where } from "../../gate/index.ts";
import { AuthenticationError, AuthorizationError, ValidationFailedError } from "../../kernel/index.ts";
import { isIdentified, ownerKeyOf } from "./rule.ts";

const NO_RECORD: Where = Object.freeze({ id: { in: [] } });

/** Whether a write could name the owner of a record: a column does, or the record's own id where the caller gives it. */
export function namesOwner(entity: AnyEntity, kind: OperationKind): boolean {
  const key = ownerKeyOf(entity);
  if (kind === "create") return key !== undefined && (key !== "id" || entity.idsFrom === "caller");
  return kind === "update" && key !== undefined && key !== "id";
}

/**
 * Guards the column that names the owner: the caller who creates a record owns it, and only an administrator gives a
 * record away or takes one.
 * @throws AuthorizationError, AuthenticationError, ValidationFailedError
 */
export function setOwner(operation: Operation): void | Promise<void> {
  const { principal, entity, data, kind, scope } = operation;
  if (principal.kind === "system") return;
  const key = ownerKeyOf(entity) as string;
  if (key !== "id" && takeNestedOwner(operation, key)) return;
  const sent = Object.hasOwn(data, key) ? data[key] : undefined;
  const read = typeof sent === "number" ? entity.columns[key]?.kind.convert?.(sent) : undefined;
  const given = read?.ok === true ? read.value : sent; // ids of whole numbers are numbers on the wire
  const { user, isAdmin } = principal;
  if (kind === "create") {
    if (given === undefined) {
      if (isIdentified(user)) data[key] = user.id;
      return;
    }
    if (isAdmin || given === user?.id) return;
    if (user !== null) throw new AuthorizationError();
    if (given !== null) throw new AuthenticationError(); // an anonymous caller must not name an owner
    return;
  }
  if (given === undefined || isAdmin) return;
  // Sending back what was read is fine, so the value is a condition, not a change. Only a plain id may become one.
  if (given !== null && !entity.columns[key]?.kind.accepts(given))
    throw new ValidationFailedError([{ path: [key], code: "invalid_type", message: "must be an id" }]);
  delete data[key];
  // What the caller cannot have read is a guess, and refused whether it is right or wrong.
  const { filterable, readablePerRow } = scope.access.mask(entity);
  const isShown = filterable.has(key) && readablePerRow?.has(key) !== true;
  const where = isShown ? asReader(operation, { [key]: given }) : NO_RECORD;
  const require = (condition: Where): void => operation.require(condition, "denied");
  return where instanceof Promise ? where.then(require) : require(where);
}

/**
 * Reads the owner out of a nested write, so that `{ user: { connect: "u1" } }` is the same as `{ userId: "u1" }`. An owner that
 * may be created with the record is not the caller, so only an administrator may do that.
 * @returns whether the owner may be created
 */
function takeNestedOwner({ principal, entity, data }: Operation, key: string): boolean {
  const relation = entity.ownedBy as string;
  const given = data[relation];
  if (principal.kind === "system" || !isNestedWrite(given)) return false;
  const { connect, disconnect, ...others } = given as Readonly<Record<string, unknown>>;
  const made = others.create ?? others.connectOrCreate;
  const said = [connect, disconnect, others.create, others.connectOrCreate, data[key]].filter(
    (value) => value !== undefined,
  );
  if (said.length > 1)
    throw new ValidationFailedError([
      { path: [relation], code: "custom", message: `is said more than once, with ${key}` },
    ]);
  if (made !== undefined) {
    if (principal.isAdmin) return true;
    throw principal.user === null ? new AuthenticationError() : new AuthorizationError();
  }
  if (connect === undefined && disconnect === undefined) return false;
  if (disconnect !== undefined && disconnect !== true)
    throw new ValidationFailedError([{ path: [relation, "disconnect"], code: "custom", message: "takes true" }]);
  data[key] = connect === undefined ? null : connect;
  if (Object.keys(others).length > 0) data[relation] = others;
  else delete data[relation];
  return false;
}
