import { type Access, type ActionFields, type AnyEntity, isKeelsonError, ruleName } from "../../entity/index.ts";
import { CLIENT_METHODS, type FieldChecks, type FieldReader, type RuleLists } from "../../kernel/index.ts";
import type { ActionDefinition } from "./action-definition.ts";

/** An action made ready for one entity. */
export interface CompiledAction {
  readonly name: string;
  readonly entity: AnyEntity;
  readonly definition: ActionDefinition;
  readonly method: string;
  /** Below the entity's path. */
  readonly path: string;
  readonly onResource: boolean;
  readonly access: Access;
  readonly rules: readonly string[] | undefined;
  readonly input: FieldReader | undefined;
  readonly query: FieldReader | undefined;
  readonly output: FieldReader | undefined;
}

/** What compiling needs of other plugins. */
export interface ActionParts {
  readonly fields: FieldChecks;
  readonly rules: RuleLists;
  readonly problem: (sentence: string) => void;
}

const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);
/** `count` is not among them: the client's own means the same. */
const TAKEN: ReadonlySet<string> = new Set(CLIENT_METHODS.filter((name) => name !== "count"));
const UNDER_ID = /^\/:id(?:\/|$)/;

/** Makes an attached action ready, or reports why it cannot be. */
export function compileAction(
  { fields, rules, problem }: ActionParts,
  entity: AnyEntity,
  name: string,
  value: unknown,
): CompiledAction | undefined {
  const at = `action "${name}" of ${entity.name}`;
  const found = definitionOf(value);
  if (typeof found === "string") {
    problem(`${at}: ${found}`);
    return undefined;
  }
  const method = (found.method ?? "POST").toUpperCase();
  const path = `/${(found.path ?? name).replace(/^\//, "")}`;
  const onResource = found.onResource ?? UNDER_ID.test(path);
  const wrong = found.check?.(entity);
  if (wrong !== undefined) problem(`${at}: ${wrong}`);
  if (!METHODS.has(method)) problem(`${at}: ${method} is not one of ${[...METHODS].join(", ")}`);
  if (TAKEN.has(name)) problem(`${at}: every client has a method "${name}" already; choose another name`);
  // A client with such a method would be taken for a promise.
  if (name === "then") problem(`${at}: a client cannot have a method "then"; choose another name`);
  const { timeout = 1 } = found;
  if (!(Number.isSafeInteger(timeout) && timeout > 0)) problem(`${at}: its timeout must be a whole number, 1 or more`);
  const own = found.rules === undefined ? undefined : Object.freeze(found.rules.flat().map(ruleName));
  if (own !== undefined) rules.compile(own, entity, at);
  if (
    own !== undefined &&
    !onResource &&
    found.authorizes !== "operations" &&
    own.length > 0 &&
    own.every((rule) => rule === "owner")
  )
    problem(`${at}: the rule "owner" needs a record; use .onResource(), or another rule`);
  const reader = (of: ActionFields | undefined): FieldReader | undefined =>
    of && fields.compile(Object.fromEntries(Object.entries(of).map(([key, field]) => [key, field.definition])));
  return Object.freeze({
    name,
    entity,
    definition: found,
    method,
    path: onResource && !UNDER_ID.test(path) ? `/:id${path}` : path,
    onResource,
    access: found.access ?? inherited(method, onResource),
    rules: own,
    input: reader(found.input),
    query: reader(found.query),
    output: reader(found.output),
  });
}

/** The definition behind whatever was attached, or what is wrong with it. */
export function definitionOf(value: unknown): ActionDefinition | string {
  if (typeof value === "function") return definitionOfPrebuilt(value as () => unknown);
  const held = (value as { definition?: unknown } | null | undefined)?.definition ?? value;
  if (typeof (held as Partial<ActionDefinition> | null | undefined)?.handler === "function")
    return held as ActionDefinition;
  return "is neither an action nor an object with a handler";
}

/** A prebuilt action that was attached without being called. */
function definitionOfPrebuilt(prebuilt: () => unknown): ActionDefinition | string {
  try {
    const made = prebuilt();
    return typeof made === "function" ? "is a function that gives no action" : definitionOf(made);
  } catch (error) {
    return isKeelsonError(error) ? error.message : "is a function that gives no action";
  }
}

/** The access whose rules an action inherits (public-api.md, "Actions"). */
function inherited(method: string, onResource: boolean): Access {
  if (method === "GET") return "read";
  if (method === "DELETE") return "delete";
  return onResource ? "update" : "create";
}
