import {
  type ActionFields,
  type AnyEntity,
  type FieldDefinition,
  isKeelsonError,
  type JsonSchema,
  jsonSchemaOf,
} from "../../../entity/index.ts";
import type {
  AnswerDescription,
  DescribeRoute,
  OperationScope,
  ParameterDescription,
  PluginContext,
  RouteDescription,
  RouteReader,
} from "../../../gate/index.ts";
import type { CompiledAction } from "./compile-action.ts";
import { authorizeCollection } from "./run-action.ts";

/** The documentation of an action: its own description, or one derived from its declarations. */
export function describeAction({ use: resolve }: PluginContext, action: CompiledAction): DescribeRoute {
  const { entity, definition } = action;
  return async (reader) => {
    if (!(await mayUseAction(action, reader.scope))) return undefined;
    return definition.describe === undefined
      ? declared(action, reader)
      : definition.describe(reader, { entity, resolve });
  };
}

function declared(action: CompiledAction, reader: RouteReader): RouteDescription {
  const { definition, method, onResource } = action;
  const asks = definition.workflow !== undefined && reader.scope.principal.kind !== "anonymous";
  return {
    parameters: [...parameters(definitions(definition.query)), ...(asks ? [PREFER] : [])],
    body: body(action, reader),
    answers: answers(action, reader, asks),
    // A handler may refuse requests with any status.
    errors: [403, ...(onResource ? [404] : []), ...(method === "GET" ? [] : [409]), "4XX"],
  };
}

function definitions(fields: ActionFields = {}): Readonly<Record<string, FieldDefinition>> {
  return Object.fromEntries(Object.entries(fields).map(([name, { definition }]) => [name, definition]));
}

function parameters(fields: Readonly<Record<string, FieldDefinition>>): ParameterDescription[] {
  return Object.entries(fields).map(([name, field]) => ({
    name,
    schema: jsonSchemaOf(field.kind, field),
    description: field.description,
    required: isRequired(field),
  }));
}

function isRequired({ optional, default: given }: FieldDefinition): boolean {
  return !optional && given === undefined;
}

function body({ definition, method }: CompiledAction, reader: RouteReader): RouteDescription["body"] {
  const { input, readsBody = method !== "GET" && method !== "DELETE" } = definition;
  if (input === undefined)
    return readsBody === false ? undefined : { required: readsBody === true, content: { "application/json": {} } };
  const fields = definitions(input);
  const content = { "application/json": reader.fields(fields, "input") };
  return { required: Object.values(fields).some(isRequired), content };
}

/** The response is unknown without an output schema. With one, only the status is unknown. */
function answers({ definition }: CompiledAction, reader: RouteReader, asks: boolean): RouteDescription["answers"] {
  if (definition.output === undefined) return undefined;
  const content = { "application/json": reader.fields(definitions(definition.output), "output") };
  const answer: AnswerDescription = { description: "What the action gives.", content };
  return {
    200: answer,
    "2XX": { ...answer, description: "The same, under a status of the action's own." },
    ...(asks ? ACCEPTED : {}),
  };
}

/** Whether the rules let the caller use an action. Rules about records are checked with the route of the action. */
async function mayUseAction(action: CompiledAction, scope: OperationScope): Promise<boolean> {
  if (action.onResource || action.definition.authorizes === "operations") return true;
  return passes(() => authorizeCollection(action, scope));
}

/** Whether the caller may read some records of an entity. For the system: whether any caller may. */
export async function mayReadSome(scope: OperationScope, entity: AnyEntity): Promise<boolean> {
  if (scope.principal.kind === "system") return entity.rules === undefined || (entity.rules.read ?? []).length > 0;
  return passes(() => scope.access.decide({ kind: "read", entity }));
}

/** Whether an action may set a field for the caller: the field's rules count, `.readonly()` does not. */
export function maySet(scope: OperationScope, entity: AnyEntity, field: string): boolean {
  return entity.fields[field]?.writable === undefined || scope.access.mask(entity).writable.has(field);
}

async function passes(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (isKeelsonError(error) && (error.status === 401 || error.status === 403)) return false;
    throw error;
  }
}

const PREFER: ParameterDescription = Object.freeze({
  name: "Prefer",
  in: "header",
  shared: true,
  schema: { type: "string", enum: ["respond-async"] },
  description: "Asks for an answer before the work is done (RFC 7240), where runs are remembered.",
});

const ACCEPTED = answerWith(
  202,
  "The work has begun, as `Prefer` asked.",
  { runId: { type: "string" }, status: { const: "running" }, location: { type: "string" } },
  { Location: "Where the report of the run is.", "Preference-Applied": "`respond-async`." },
);

/** The description of one response, whose body is an object with these members. */
export function answerWith(
  status: number,
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  headers?: AnswerDescription["headers"],
): Readonly<Record<string, AnswerDescription>> {
  const schema: JsonSchema = { type: "object", required: Object.keys(properties), properties };
  return Object.freeze({ [status]: { description, content: { "application/json": schema }, headers } });
}

/** The response of actions that only report success. */
export const SUCCESS = answerWith(200, "It is done.", { success: { const: true } });
