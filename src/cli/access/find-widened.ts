import type { AccessMatrix, Grants } from "./access-matrix.ts";
import { type Grant, grantText, isCovered, NEVER } from "./grant.ts";
import { ROLES, type Role } from "./role.ts";

/** A permission that did not exist before. */
export interface Widening {
  /** `note read`, `note.text update`, `POST /api/notes`. */
  readonly what: string;
  readonly role: Role;
  readonly before: string;
  readonly after: string;
}

/** Every cell of a matrix, under its name. */
function* cells({ entities, routes }: AccessMatrix): Generator<readonly [what: string, grants: Grants]> {
  for (const [name, { operations, fields }] of Object.entries(entities)) {
    for (const [operation, grants] of Object.entries(operations)) yield [`${name} ${operation}`, grants];
    for (const [field, access] of Object.entries(fields))
      for (const [operation, grants] of Object.entries(access)) yield [`${name}.${field} ${operation}`, grants];
  }
  yield* Object.entries(routes);
}

/** What has widened between two matrices. What the older one does not know was never allowed. */
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
