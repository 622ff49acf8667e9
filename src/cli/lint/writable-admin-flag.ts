import { ROLES } from "../access/role.ts";
import type { LintRule } from "./finding.ts";

/** Names that the default `isAdmin` looks at. */
const FLAGS = ["role", "roles", "isAdmin"];

/** Fields that make an administrator, and that others than administrators may write. */
export const writableAdminFlag: LintRule = {
  id: "writable-admin-flag",
  title: "A field that makes an administrator can be written by others",
  why: "Who may change their own record could make themselves an administrator.",
  fix: 'Add .readonly(), or .writable("admin"), to the field.',
  level: "warning",
  find: ({ matrix }) =>
    Object.entries(matrix.entities).flatMap(([name, { fields }]) =>
      FLAGS.flatMap((flag) => {
        const access = fields[flag];
        if (access === undefined) return [];
        const others = ROLES.filter(
          (role) => role !== "admin" && (access.create[role].length > 0 || access.update[role].length > 0),
        );
        return others.length === 0 ? [] : [{ at: `${name}.${flag}`, what: `${others.join(", ")} may write it` }];
      }),
    ),
};
