import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import { SUCCESS } from "../action/answer-with.ts";
import { deletionField, deletionProblem } from "./deletion-field.ts";

/**
 * `POST /:id/restore` takes a soft deletion back, by the rules of update (spec 4.2).
 * @param fieldName optional datetime field that holds the time of deletion @default that of `.softDelete()`, or "deletedAt"
 */
export function restoreAction(fieldName?: string): ActionBuilder<PlainShape<{ readonly success: true }, true>> {
  return new ActionBuilder<PlainShape<{ readonly success: true }, true>>({
    method: "POST",
    path: "/:id/restore",
    description: "Takes a soft deletion back",
    query: {},
    readsBody: false,
    authorizes: "operations",
    restores: true,
    check: (entity) => deletionProblem(entity, fieldName),
    describe: () => ({ answers: SUCCESS, errors: [404, 409] }),
    async handler({ scope, entity, params, rules }) {
      const field = deletionField(entity, fieldName);
      await scope.run({
        kind: "update",
        entity,
        id: params.id,
        rules,
        query: { deleted: "with" },
        set: { [field]: null },
        when: { [field]: { null: false } },
      });
      return { success: true };
    },
  });
}
