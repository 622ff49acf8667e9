import { ConfigurationError } from "../../../entity/index.ts";
import type { Operation } from "../../../kernel/index.ts";
import { UnavailableError } from "../../../kernel/index.ts";
import { ActionBuilder, type PlainShape } from "../action.ts";
import type { ActionContext } from "../action-context.ts";
import { columnProblem } from "./column-problem.ts";

type ToggleShape<F extends string> = PlainShape<{ readonly [K in F]: boolean }, true>;

/**
 * `POST /:id/toggle-<field>` inverts a bool field, by the rules of update, and answers with the new value (spec 4.2). An
 * empty one becomes true.
 * @throws ConfigurationError without a field
 */
export function toggleAction<const F extends string>(field: F): ActionBuilder<ToggleShape<F>> {
  if (typeof field !== "string" || field === "")
    throw new ConfigurationError('toggleAction needs the name of a field, as in toggleAction("published")');
  return new ActionBuilder<ToggleShape<F>>({
    method: "POST",
    path: `/:id/toggle-${field}`,
    description: `Inverts ${field}`,
    authorizes: "operations",
    check: (entity) => columnProblem(entity, field, { kind: "bool" }),
    handler: (context) => toggle(context, field),
  });
}

/** One conditional statement per try. When others toggle at the same time one of them wins each round, so it ends. */
async function toggle(
  { scope, entity, params, rules }: ActionContext,
  field: string,
): Promise<Record<string, boolean>> {
  const set = (value: boolean): Promise<Operation> => {
    const when = { [field]: value ? { ne: true } : true };
    return scope.run({ kind: "update", entity, id: params.id, rules, set: { [field]: value }, when });
  };
  for (let value = true; scope.signal?.aborted !== true; value = !value)
    if ((await set(value)).applied) return { [field]: value };
  throw new UnavailableError("The request took too long");
}
