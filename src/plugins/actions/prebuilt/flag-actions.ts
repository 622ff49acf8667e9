import { type AnyEntity, ConfigurationError } from "../../../entity/index.ts";
import { type Operation, type OperationScope, presentSettled, type Row } from "../../../gate/index.ts";
import { AuthorizationError, UnavailableError } from "../../../kernel/index.ts";
import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import type { ActionContext } from "../action/action-definition.ts";
import { answerWith, mayReadSome, maySet, SUCCESS } from "../action/describe-action.ts";

type SetFlagShape = PlainShape<{ readonly success: true }, true>;

/** `POST /:id/archive` sets the bool field `archived`, by the rules of update (spec 4.2). */
export function archiveAction(): ActionBuilder<SetFlagShape> {
  return setFlag("archive", "archived", true);
}

/** `POST /:id/unarchive` clears the bool field `archived`, by the rules of update (spec 4.2). */
export function unarchiveAction(): ActionBuilder<SetFlagShape> {
  return setFlag("unarchive", "archived", false);
}

/** `POST /:id/<verb>` sets a bool field, by the rules of update. A record that already has the value is not changed. */
function setFlag(verb: string, field: string, value: boolean): ActionBuilder<SetFlagShape> {
  return new ActionBuilder({
    method: "POST",
    path: `/:id/${verb}`,
    description: `Sets ${field} to ${value}`,
    query: {},
    readsBody: false,
    authorizes: "operations",
    transactional: true,
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

type ToggleShape<F extends string> = PlainShape<{ readonly [K in F]: boolean }, true>;

/**
 * `POST /:id/toggle-<field>` inverts a bool field, by the rules of update, and returns the new value (spec 4.2). The
 * caller must be allowed to read the field. An empty field becomes true.
 * @throws ConfigurationError without a field
 */
export function toggleAction<const F extends string>(field: F): ActionBuilder<ToggleShape<F>> {
  if (typeof field !== "string" || field === "")
    throw new ConfigurationError('toggleAction needs the name of a field, as in toggleAction("published")');
  return new ActionBuilder({
    method: "POST",
    path: `/:id/toggle-${field}`,
    description: `Inverts ${field}`,
    query: {},
    readsBody: false,
    authorizes: "operations",
    transactional: true,
    check: (entity) => columnProblem(entity, field, { kind: "bool", shown: true }),
    async describe({ scope }, { entity }) {
      const isUsable = scope.access.mask(entity).readable.has(field) && maySet(scope, entity, field);
      if (!isUsable || !(await mayReadSome(scope, entity))) return undefined;
      const answers = answerWith(200, "The new value.", { [field]: { type: "boolean" } });
      return { answers, errors: [403, 404, 409] };
    },
    handler: (context) => toggle(context, field),
  });
}

async function toggle(context: ActionContext, field: string): Promise<Record<string, boolean>> {
  const { scope, entity, params } = context;
  scope.state.shown?.note(entity, { id: params.id });
  if (await isShownAlways(scope, entity, field)) return (await invert(scope, context, field)).answer;
  // Whether this record shows the field is only known after the write, which is rolled back if it does not.
  return scope.transaction(async (inner) => {
    const { answer, records } = await invert(inner, context, field);
    const [shown] = (await presentSettled(records, inner, false)) as readonly Row[];
    if (shown?.[field] === undefined) throw new AuthorizationError();
    return answer;
  });
}

/**
 * Whether the caller may read the field of every record.
 * @throws AuthenticationError, AuthorizationError if they may read it of no record
 */
async function isShownAlways(scope: OperationScope, entity: AnyEntity, field: string): Promise<boolean> {
  if (scope.principal.kind === "system") return true;
  const { predicate, guard } = await scope.access.decide({ kind: "read", entity });
  await scope.access.maskReady(entity);
  const { readable, readablePerRow } = scope.access.mask(entity);
  if (!readable.has(field)) throw new AuthorizationError();
  return predicate === undefined && guard === undefined && readablePerRow?.has(field) !== true;
}

/**
 * Tries one conditional statement per value until one applies. Of concurrent toggles one succeeds per round, so it
 * ends.
 */
async function invert(
  scope: OperationScope,
  { entity, params, rules }: ActionContext,
  field: string,
): Promise<Pick<Operation, "records"> & { readonly answer: Record<string, boolean> }> {
  const set = (value: boolean): Promise<Operation> => {
    const when = { [field]: value ? { ne: true } : true };
    return scope.run({ kind: "update", entity, id: params.id, rules, set: { [field]: value }, when });
  };
  for (let value = true; scope.exchange?.signal?.aborted !== true; value = !value) {
    const { applied, records } = await set(value);
    if (applied) return { answer: { [field]: value }, records };
  }
  throw new UnavailableError("The request took too long");
}

/**
 * The problem with the field of an action, as the end of a sentence; undefined when it is suitable.
 * @param wanted the kind of the field, whether it must be optional, and whether callers must be able to see it
 */
export function columnProblem(
  entity: AnyEntity,
  name: string,
  wanted: { readonly kind: string; readonly optional?: true; readonly shown?: true },
): string | undefined {
  const field = Object.hasOwn(entity.fields, name) ? entity.fields[name] : undefined;
  const what = `${wanted.optional ? "an optional" : "a"} ${wanted.kind} field`;
  if (field === undefined) return `needs ${what} "${name}", which it does not have`;
  const but = (is: string): string => `needs ${what} "${name}", and that one is ${is}`;
  if (field.kind.name !== wanted.kind) return but(`of the kind ${field.kind.name}`);
  if (wanted.optional === true && !field.optional) return but("not optional");
  if (wanted.shown === true && entity.hidden.includes(name)) return but("hidden from all callers");
  return field.encrypted === undefined ? undefined : but("encrypted");
}
