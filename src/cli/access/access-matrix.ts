import type { Table } from "../shell/output.ts";
import { type Grant, grantText, isCovered, NEVER, ROLES, type Role } from "./grant.ts";

export const OPERATIONS = ["create", "read", "update", "delete"] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The permissions of each role. */
export type Grants = Readonly<Record<Role, Grant>>;

/** Access to a field: set on create, read, and update. Fields are deleted with their record. */
export type FieldAccess = Readonly<Record<Exclude<Operation, "delete">, Grants>>;

export interface EntityAccess {
  readonly operations: Readonly<Record<Operation, Grants>>;
  readonly fields: Readonly<Record<string, FieldAccess>>;
}

/** The permissions of an app: role × entity × operation × field, and role × route. Plain data, in a stable order. */
export interface AccessMatrix {
  /** Version of this format. */
  readonly version: 1;
  readonly entities: Readonly<Record<string, EntityAccess>>;
  /** By method and path. */
  readonly routes: Readonly<Record<string, Grants>>;
}

/**
 * Formats a matrix as a table: operations, the fields that differ from them, and the routes that are not operations.
 * @param isOperation whether a route, by method and path, is an operation
 */
export function matrixTable({ entities, routes }: AccessMatrix, isOperation: (path: string) => boolean): Table {
  const rows = [
    ...Object.entries(entities).flatMap(([name, access]) => [
      ...operationRows(name, access),
      ...fieldRows(name, access),
    ]),
    ...Object.entries(routes).flatMap(([path, grants]) => (isOperation(path) ? [] : [row(path, "call", grants)])),
  ];
  return { headings: ["WHAT", "OPERATION", ...ROLES.map((role) => role.toUpperCase())], rows };
}

function row(what: string, operation: string, grants: Grants): string[] {
  return [what, operation, ...ROLES.map((role) => grantText(grants[role]))];
}

function operationRows(name: string, { operations }: EntityAccess): string[][] {
  return OPERATIONS.map((operation) => row(name, operation, operations[operation]));
}

/** Columns that the framework maintains and no caller writes. */
const KEPT = new Set(["id", "createdAt", "updatedAt", "version"]);

/** Makes rows for fields with their own rules; others follow the entity's. */
function fieldRows(name: string, { operations, fields }: EntityAccess): string[][] {
  const own = Object.entries(fields).filter(([field]) => !KEPT.has(field));
  return own.flatMap(([field, access]) =>
    (["create", "read", "update"] as const)
      .filter((operation) => !isSame(access[operation], operations[operation]))
      .map((operation) => row(`${name}.${field}`, operation, access[operation])),
  );
}

function isSame(a: Grants, b: Grants): boolean {
  return ROLES.every((role) => grantText(a[role]) === grantText(b[role]));
}

/** A permission that did not exist before. */
export interface Widening {
  /** `note read`, `note.text update`, `POST /api/notes`. */
  readonly what: string;
  readonly role: Role;
  readonly before: string;
  readonly after: string;
}

/** Yields every cell of a matrix with its name. */
function* cells({ entities, routes }: AccessMatrix): Generator<readonly [what: string, grants: Grants]> {
  for (const [name, { operations, fields }] of Object.entries(entities)) {
    for (const [operation, grants] of Object.entries(operations)) yield [`${name} ${operation}`, grants];
    for (const [field, access] of Object.entries(fields))
      for (const [operation, grants] of Object.entries(access)) yield [`${name}.${field} ${operation}`, grants];
  }
  yield* Object.entries(routes);
}

/**
 * Finds the permissions that have widened between two matrices. Cells that the older matrix does not have count as
 * denied.
 */
export function findWidened(before: AccessMatrix, after: AccessMatrix): Widening[] {
  const known = new Map<string, Partial<Grants>>(cells(before));
  return [...cells(after)].flatMap(([what, grants]) =>
    ROLES.flatMap((role) => {
      const was: Grant = known.get(what)?.[role] ?? NEVER;
      if (isCovered(grants[role], was)) return [];
      return [{ what, role, before: grantText(was), after: grantText(grants[role]) }];
    }),
  );
}
