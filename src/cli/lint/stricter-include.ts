import { isCovered } from "../access/grant.ts";
import { ROLES } from "../access/role.ts";
import type { LintRule } from "./finding.ts";

/** Relations whose other end fewer people may read. */
export const stricterInclude: LintRule = {
  id: "stricter-include",
  title: "Relation to an entity with stricter rules",
  why: "An include of it is null, or has fewer records, for callers who may read the record itself. Nothing leaks; clients may be surprised.",
  fix: "If that is meant, nothing. Otherwise give both entities the same rule for read.",
  level: "note",
  find: ({ model, matrix }) =>
    [...model.entities, ...model.foreign].flatMap((entity) =>
      model.relationsOf(entity).flatMap(({ name, target }) => {
        const [from, to] = [entity, target].map((one) => matrix.entities[one.name]?.operations.read);
        if (from === undefined || to === undefined) return [];
        const fewer = ROLES.filter((role) => !isCovered(from[role], to[role]));
        if (fewer.length === 0) return [];
        return [
          {
            at: `${entity.name}.${name}`,
            what: `${fewer.join(", ")} may read ${entity.name}, and not every ${target.name} it leads to`,
          },
        ];
      }),
    ),
};
