import { ActionBuilder, type PlainShape } from "../action.ts";
import { columnProblem } from "./column-problem.ts";

/**
 * `POST /:id/restore` takes a soft deletion back, by the rules of update (spec 4.2).
 * @param fieldName optional datetime field that holds the time of deletion @default "deletedAt"
 */
export function restoreAction(fieldName = "deletedAt"): ActionBuilder<PlainShape<{ readonly success: true }, true>> {
  return new ActionBuilder<PlainShape<{ readonly success: true }, true>>({
    method: "POST",
    path: "/:id/restore",
    description: "Takes a soft deletion back",
    authorizes: "operations",
    check: (entity) => columnProblem(entity, fieldName, { kind: "datetime", optional: true }),
    async handler({ scope, entity, params, rules }) {
      await scope.run({
        kind: "update",
        entity,
        id: params.id,
        rules,
        query: { deleted: "with" },
        set: { [fieldName]: null },
        when: { [fieldName]: { null: false } },
      });
      return { success: true };
    },
  });
}
