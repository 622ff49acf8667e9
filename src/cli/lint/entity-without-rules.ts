import { OPERATIONS } from "../access/access-matrix.ts";
import { ROLES } from "../access/role.ts";
import type { LintRule } from "./finding.ts";

/** Entities that have routes and let nobody use them. */
export const entityWithoutRules: LintRule = {
  id: "entity-without-rules",
  title: "Entity without rules",
  why: "What is not allowed is denied, so nobody can use its routes. Often the rules were only forgotten.",
  fix: "Add .rules({ read: [...], create: [...], update: [...], delete: [...] }), or .internal() when only code uses it.",
  level: "warning",
  find: ({ matrix }) =>
    Object.entries(matrix.entities).flatMap(([name, { operations }]) => {
      const isClosed = OPERATIONS.every((operation) => ROLES.every((role) => operations[operation][role].length === 0));
      return isClosed ? [{ at: name, what: "nobody may create, read, update or delete it" }] : [];
    }),
};
