import type { Table } from "../shell/table.ts";
import { type AccessMatrix, type EntityAccess, type Grants, OPERATIONS } from "./access-matrix.ts";
import { grantText } from "./grant.ts";
import { ROLES } from "./role.ts";

/**
 * A matrix for people: operations, the fields that differ from them, and the routes that are no operation.
 * @param isOperation whether a route, by method and path, is one
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

/** Columns that the framework maintains itself and no caller writes. */
const KEPT = new Set(["id", "createdAt", "updatedAt", "version"]);

/** A field that obeys the entity's rules alone has nothing to say for itself. */
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
