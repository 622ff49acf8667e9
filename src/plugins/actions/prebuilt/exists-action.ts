import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import { answerWith } from "../action/answer-with.ts";

/** `GET /:id/exists` tells whether there is a record that the caller may read (spec 4.2). */
export function existsAction(): ActionBuilder<PlainShape<{ readonly exists: boolean }, true>> {
  return new ActionBuilder<PlainShape<{ readonly exists: boolean }, true>>({
    method: "GET",
    path: "/:id/exists",
    description: "Tells whether there is such a record",
    query: {},
    authorizes: "operations",
    takesAnyId: true,
    describe: () => ({ answers: answerWith(200, "Whether there is one.", { exists: { type: "boolean" } }) }),
    async handler({ scope, entity, params, rules }) {
      if ((params.id as string).length > scope.limits.idLength) return { exists: false };
      const query = { select: ["id"] };
      const { applied } = await scope.run({ kind: "read", entity, id: params.id, rules, query, ifFound: true });
      return { exists: applied };
    },
  });
}
