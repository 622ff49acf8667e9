import { ActionBuilder, type PlainShape } from "../action.ts";
import { columnProblem } from "./column-problem.ts";

/**
 * `DELETE /:id/soft` marks a record as deleted, by the rules of delete (spec 4.2). Once more is fine and does not move
 * the time.
 * @param fieldName optional datetime field that holds the time @default "deletedAt"
 */
export function softDeleteAction(fieldName = "deletedAt"): ActionBuilder<PlainShape<{ readonly success: true }, true>> {
  return new ActionBuilder<PlainShape<{ readonly success: true }, true>>({
    method: "DELETE",
    path: "/:id/soft",
    description: "Marks the record as deleted",
    authorizes: "operations",
    check: (entity) => columnProblem(entity, fieldName, { kind: "datetime", optional: true }),
    async handler({ scope, entity, params, rules }) {
      await scope.run({
        kind: "update",
        entity,
        id: params.id,
        access: "delete",
        rules,
        query: { deleted: "with" },
        set: { [fieldName]: scope.now() },
        when: { [fieldName]: null },
      });
      return { success: true };
    },
  });
}
