import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import { SUCCESS } from "../action/answer-with.ts";
import { deletionField, deletionProblem } from "./deletion-field.ts";

/**
 * `DELETE /:id/soft` marks a record as deleted, by the rules of delete (spec 4.2). Once more is fine and does not move
 * the time.
 * @param fieldName optional datetime field that holds the time @default that of `.softDelete()`, or "deletedAt"
 */
export function softDeleteAction(fieldName?: string): ActionBuilder<PlainShape<{ readonly success: true }, true>> {
  return new ActionBuilder<PlainShape<{ readonly success: true }, true>>({
    method: "DELETE",
    path: "/:id/soft",
    description: "Marks the record as deleted",
    query: {},
    readsBody: false,
    authorizes: "operations",
    deletesBy: (entity) => deletionField(entity, fieldName),
    check: (entity) => deletionProblem(entity, fieldName),
    describe: () => ({ answers: SUCCESS, errors: [404, 409] }),
    async handler({ scope, entity, params, rules }) {
      const field = deletionField(entity, fieldName);
      await scope.run({
        kind: "update",
        entity,
        id: params.id,
        access: "delete",
        rules,
        query: { deleted: "with" },
        set: { [field]: scope.now() },
        when: { [field]: null },
      });
      return { success: true };
    },
  });
}
