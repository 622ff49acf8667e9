import type { Grant } from "./grant.ts";
import type { Role } from "./role.ts";

export const OPERATIONS = ["create", "read", "update", "delete"] as const;
export type Operation = (typeof OPERATIONS)[number];

/** What each role may do. */
export type Grants = Readonly<Record<Role, Grant>>;

/** A field can be chosen on create, seen, and changed; it is deleted with its record. */
export type FieldAccess = Readonly<Record<Exclude<Operation, "delete">, Grants>>;

export interface EntityAccess {
  readonly operations: Readonly<Record<Operation, Grants>>;
  readonly fields: Readonly<Record<string, FieldAccess>>;
}

/** Who may do what: role × entity × operation × field, and role × route. Plain data, in a stable order. */
export interface AccessMatrix {
  /** Version of this format. */
  readonly version: 1;
  readonly entities: Readonly<Record<string, EntityAccess>>;
  /** By method and path. */
  readonly routes: Readonly<Record<string, Grants>>;
}
