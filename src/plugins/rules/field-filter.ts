import { type AnyEntity, ConfigurationError, type EntityLike, resolveEntity } from "../../entity/index.ts";
import { entityOfRecord, type Row } from "../../gate/index.ts";
import {
  ANONYMOUS,
  AuthenticationError,
  defaultIsAdmin,
  isPromiseLike,
  type Principal,
  type User,
} from "../../kernel/index.ts";
import { isIdentified } from "./built-in-rules.ts";

/** On whose behalf fields are filtered. */
export interface FieldFilterOptions {
  /** Who asks; `null` for anonymous callers. */
  readonly user: User | null | undefined;
  /**
   * Whether they are an administrator. An app with an `isAdmin` of its own passes what it says.
   * @default the user's `role` is "admin", `isAdmin` is true, or `roles` contains "admin"
   */
  readonly isAdmin?: boolean | undefined;
}

/** What a filter leaves: of a record some keys, of an array each record filtered, `null` as it is. */
export type FilteredFields<T> = T extends readonly (infer R)[]
  ? FilteredFields<R>[]
  : T extends object
    ? Partial<T>
    : T;

/** What a filter was asked to do. */
export interface FieldFilter {
  readonly principal: Principal;
  /** Applies a filter of records to a record, an array or null. */
  apply(data: unknown, filter: (record: Row, entity: AnyEntity) => Row): unknown;
}

/**
 * Reads the arguments after the data: `(user)` or `(entity, options)`.
 * @param name of the function, for its messages
 * @throws ConfigurationError, AuthenticationError
 */
export function createFieldFilter(
  name: string,
  subject: unknown,
  options: FieldFilterOptions | undefined,
): FieldFilter {
  const entity = entityArgument(name, subject, options);
  const principal =
    options === undefined ? principalOf(subject as User | null) : principalOf(options.user, options.isAdmin);

  function apply(data: unknown, filter: (record: Row, entity: AnyEntity) => Row): unknown {
    if (data === null || data === undefined) return data;
    if (Array.isArray(data)) return data.map((one) => apply(one, filter));
    if (typeof data !== "object" || isPromiseLike(data))
      throw new ConfigurationError(`${name} takes a record, an array of records or null`);
    // What a record was read as counts for more than what somebody takes it for.
    const own = entityOfRecord(data) ?? entity;
    if (own === undefined)
      throw new ConfigurationError(
        `${name}(data, user) takes records of a handler's driver or of an operation, which know their entity. Records of a client, such as api.as(user), are plain copies, masked already; for these and other data say whose fields they are: ${name}(data, entity, { user })`,
      );
    return filter(data as Row, own);
  }
  return { principal, apply };
}

function entityArgument(
  name: string,
  subject: unknown,
  options: FieldFilterOptions | undefined,
): AnyEntity | undefined {
  if (isEntityLike(subject)) {
    if (options !== undefined) return resolveEntity(subject) as AnyEntity;
    throw new ConfigurationError(
      `${name}(data, entity) does not say who asks; pass { user } as well, with null for anonymous callers`,
    );
  }
  if (options === undefined) return undefined;
  throw new ConfigurationError(`${name}(data, entity, { user }) takes an entity in second place`);
}

function isEntityLike(value: unknown): value is EntityLike {
  if (typeof value !== "object" || value === null) return false;
  return "build" in value ? typeof value.build === "function" : "columns" in value && "relations" in value;
}

/** An identity without a proper id is nobody's: not even anonymous. */
function principalOf(user: User | null | undefined, isAdmin?: boolean): Principal {
  if (user === null || user === undefined) return ANONYMOUS;
  if (!isIdentified(user)) throw new AuthenticationError("The caller's identity is not valid");
  return { kind: "user", user, isAdmin: isAdmin === undefined ? defaultIsAdmin(user) : isAdmin === true };
}
