import { OPERATIONS } from "../access/access-matrix.ts";
import { ROLES } from "../access/role.ts";
import type { LintRule } from "./finding.ts";

/** Entities that let nobody use their routes, or, where they live in another service, see their records. */
export const entityWithoutRules: LintRule = {
  id: "entity-without-rules",
  title: "Entity without rules",
  why: "What is not allowed is denied, so nobody can use its routes. Often the rules were only forgotten.",
  fix: "Add .rules({ read: [...], create: [...], update: [...], delete: [...] }), or .internal() when only code uses it.",
  level: "warning",
  find: ({ matrix, model }) =>
    Object.entries(matrix.entities).flatMap(([name, { operations }]) => {
      if (model.get(name)?.internal) return [];
      const isClosed = OPERATIONS.every((operation) => ROLES.every((role) => operations[operation][role].length === 0));
      if (!isClosed) return [];
      const isForeign = model.get(name) === undefined;
      const what = isForeign ? "nobody may read it: includes are null" : "nobody may create, read, update or delete it";
      return [{ at: name, what }];
    }),
};
