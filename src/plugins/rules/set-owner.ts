import type { AnyEntity } from "../../entity/index.ts";
import { asReader, type Operation, type Where } from "../../gate/index.ts";
import { AuthenticationError, AuthorizationError, ValidationFailedError } from "../../kernel/index.ts";
import { isIdentified, ownerKeyOf } from "./rule.ts";

const NO_RECORD: Where = Object.freeze({ id: { in: [] } });

/** Whether an entity has an owner whose id is a column that callers could write. */
export function hasOwnerColumn(entity: AnyEntity): boolean {
  const key = ownerKeyOf(entity);
  return key !== undefined && key !== "id";
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
