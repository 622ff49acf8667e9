import type { AnyEntity } from "../../entity/index.ts";
import { asReader, isNestedWrite, type Operation, type OperationKind, type Where } from "../../gate/index.ts";
import { AuthenticationError, AuthorizationError, ValidationFailedError } from "../../kernel/index.ts";
import { isIdentified, ownerKeyOf } from "./rule.ts";

const NO_RECORD: Where = Object.freeze({ id: { in: [] } });

/** Whether a write may set the owner: by a column, or by the record's own id if callers provide it. */
export function namesOwner(entity: AnyEntity, kind: OperationKind): boolean {
  const key = ownerKeyOf(entity);
  if (kind === "create") return key !== undefined && (key !== "id" || entity.idsFrom === "caller");
  return kind === "update" && key !== undefined && key !== "id";
}

/**
 * Guards the column of the owner. The caller who creates a record owns it, and only administrators may transfer a
 * record.
 * @throws AuthorizationError, AuthenticationError, ValidationFailedError
 */
export function setOwner(operation: Operation): void | Promise<void> {
  const { principal, entity, data, kind, scope } = operation;
  if (principal.kind === "system") return;
  const key = ownerKeyOf(entity) as string;
  if (key !== "id" && takeNestedOwner(operation, key)) return;
  const sent = Object.hasOwn(data, key) ? data[key] : undefined;
  const read = typeof sent === "number" ? entity.columns[key]?.kind.convert?.(sent) : undefined;
  const given = read?.ok === true ? read.value : sent; // ids that are whole numbers are sent as JSON numbers
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
  // Sending back the stored value is allowed, so it becomes a condition, not a change. It must be a plain id.
  if (given !== null && !entity.columns[key]?.kind.accepts(given))
    throw new ValidationFailedError([{ path: [key], code: "invalid_type", message: "must be an id" }]);
  delete data[key];
  // If the caller may not read the owner, any value is a guess, and is refused whether it is right or wrong.
  const { filterable, readablePerRow } = scope.access.mask(entity);
  const isShown = filterable.has(key) && readablePerRow?.has(key) !== true;
  const where = isShown ? asReader(operation, { [key]: given }) : NO_RECORD;
  const require = (condition: Where): void => operation.require(condition, "denied");
  return where instanceof Promise ? where.then(require) : require(where);
}

/**
 * Converts a nested write of the owner, so that `{ user: { connect: "u1" } }` equals `{ userId: "u1" }`. An owner that
 * is created with the record is not the caller, so only administrators may do that.
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
