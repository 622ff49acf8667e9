import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import { SUCCESS } from "../action/answer-with.ts";
import { maySet } from "../action/usable-action.ts";
import { columnProblem } from "./column-problem.ts";

/** Types of an action that sets a flag. */
export type SetFlagShape = PlainShape<{ readonly success: true }, true>;

/** `POST /:id/<verb>` sets a bool field, by the rules of update; a record that has the value already is left as it is. */
export function setFlag(verb: string, field: string, value: boolean): ActionBuilder<SetFlagShape> {
  return new ActionBuilder<SetFlagShape>({
    method: "POST",
    path: `/:id/${verb}`,
    description: `Sets ${field} to ${value}`,
    query: {},
    readsBody: false,
    authorizes: "operations",
    check: (entity) => columnProblem(entity, field, { kind: "bool" }),
    describe: ({ scope }, { entity }) =>
      maySet(scope, entity, field) ? { answers: SUCCESS, errors: [404, 409] } : undefined,
    async handler({ scope, entity, params, rules }) {
      const when = { [field]: { ne: value } };
      await scope.run({ kind: "update", entity, id: params.id, rules, set: { [field]: value }, when });
      return { success: true };
    },
  });
}
