import { type Access, type ActionFields, type AnyEntity, ruleName } from "../../../entity/index.ts";
import { CLIENT_METHODS, type FieldChecks, type FieldReader, type RuleLists } from "../../../gate/index.ts";
import { didYouMean } from "../../../kernel/index.ts";
import { type ActionDefinition, definitionOf, noHandler } from "./action-definition.ts";

/** An action compiled for one entity. */
export interface CompiledAction {
  readonly name: string;
  readonly entity: AnyEntity;
  readonly definition: ActionDefinition;
  readonly method: string;
  /** Relative to the entity's path. */
  readonly path: string;
  readonly onResource: boolean;
  readonly access: Access;
  readonly rules: readonly string[] | undefined;
  readonly input: FieldReader | undefined;
  readonly query: FieldReader | undefined;
  readonly output: FieldReader | undefined;
}

/** Parts of other plugins that compiling needs. */
export interface ActionParts {
  readonly fields: FieldChecks;
  readonly rules: RuleLists;
  readonly problem: (sentence: string) => void;
}

const UNDER_ID = /^\/:id(?:\/|$)/;

/** Compiles an attached action, or reports its problems. */
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
  const below = `/${(found.path ?? name).replace(/^\//, "")}`;
  const onResource = found.onResource ?? UNDER_ID.test(below);
  const path = onResource && !UNDER_ID.test(below) ? `/:id${below}` : below;
  const placed = { name, entity, definition: found, method, path, onResource };
  const problems = actionProblems(placed);
  for (const sentence of problems) problem(`${at}: ${sentence}`);
  if (problems.length > 0) return undefined;
  const own = found.rules === undefined ? undefined : Object.freeze(found.rules.flat().map(ruleName));
  if (own !== undefined) rules.compile(own, entity, at);
  const reader = (of: ActionFields | undefined): FieldReader | undefined =>
    of && fields.compile(Object.fromEntries(Object.entries(of).map(([key, field]) => [key, field.definition])));
  return Object.freeze({
    ...placed,
    access: found.access ?? inherited(method, onResource),
    rules: own,
    input: reader(found.input),
    query: reader(found.query),
    output: reader(found.output),
  });
}

/** The access whose rules an action inherits. */
function inherited(method: string, onResource: boolean): Access {
  if (method === "GET") return "read";
  if (method === "DELETE") return "delete";
  return onResource ? "update" : "create";
}

/** An action with its place in the API. */
type PlacedAction = Pick<CompiledAction, "entity" | "name" | "definition" | "method" | "path" | "onResource">;

const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);
/**
 * A client with a method of such a name would be mistaken for a promise, a value with a JSON form, or a framework's own
 * marker.
 */
const NEVER_METHODS = /^(then|toJSON|__.*)$/;
const TAKEN: ReadonlySet<string> = new Set(CLIENT_METHODS);

const KEYS: Readonly<Record<keyof ActionDefinition, true>> = {
  method: true,
  path: true,
  onResource: true,
  description: true,
  rules: true,
  input: true,
  query: true,
  output: true,
  meta: true,
  timeout: true,
  handler: true,
  access: true,
  authorizes: true,
  readsBody: true,
  transactional: true,
  takesAnyId: true,
  needs: true,
  aliases: true,
  check: true,
  workflow: true,
  restores: true,
  deletesBy: true,
  sameAs: true,
  call: true,
  describe: true,
};

/** The problems of an action, as sentences without a full stop. */
function actionProblems(action: PlacedAction): readonly string[] {
  const { definition, entity } = action;
  const wrong = definition.check?.(entity);
  return [
    ...unknownKeys(definition),
    ...nameProblems(action),
    ...pathProblems(action),
    ...ruleProblems(action),
    ...fieldProblems(action),
    ...(wrong === undefined ? [] : [wrong]),
  ];
}

function unknownKeys(definition: ActionDefinition): string[] {
  const names = Object.keys(KEYS);
  const unknown = Object.keys(definition).filter((key) => !Object.hasOwn(KEYS, key));
  return unknown.map((key) => `there is no "${key}"${dotted(didYouMean(key, names))}`);
}

function dotted(hint: string): string {
  return hint === "" ? "" : `.${hint}`;
}

function nameProblems({ name, definition }: PlacedAction): string[] {
  const { handler, timeout = 1, sameAs } = definition;
  const problems: string[] = [];
  if (handler === noHandler) problems.push("it has no handler; .handler() says what it does");
  if (TAKEN.has(name) && name !== sameAs)
    problems.push(`every client has a method "${name}" already; choose another name`);
  if (NEVER_METHODS.test(name)) problems.push(`a client cannot have a method "${name}"; choose another name`);
  if (!(Number.isSafeInteger(timeout) && timeout > 0)) problems.push("its timeout must be a whole number, 1 or more");
  return problems;
}

function pathProblems({ method, path }: PlacedAction): string[] {
  const segments = path.split("/");
  const twice = segments.find((segment, index) => segment.startsWith(":") && segments.indexOf(segment) !== index);
  const problems: string[] = [];
  if (!METHODS.has(method)) problems.push(`${method} is not one of ${[...METHODS].join(", ")}`);
  if (segments.includes(".") || segments.includes(".."))
    problems.push(`its path ${path} must not have the segments . and ..`);
  if (twice !== undefined) {
    const hint = twice === ":id" ? "; under .onResource() it comes first by itself" : "";
    problems.push(`its path ${path} names ${twice} twice${hint}`);
  }
  return problems;
}

function ruleProblems({ definition, onResource }: PlacedAction): string[] {
  const rules: unknown = definition.rules;
  if (rules === undefined) return [];
  if (!Array.isArray(rules) || !rules.flat().every(isRule)) return ["its rules must be a list of rules"];
  const isOwners = rules.length > 0 && rules.flat().every((rule) => rule === "owner" || rule.name === "owner");
  return isOwners && !onResource && definition.authorizes !== "operations"
    ? ['the rule "owner" needs a record; use .onResource(), or another rule']
    : [];
}

function isRule(rule: unknown): boolean {
  return typeof rule === "string" || typeof (rule as { name?: unknown } | null | undefined)?.name === "string";
}

function fieldProblems({ definition, method }: PlacedAction): string[] {
  const problems = (["input", "query", "output"] as const).flatMap((part) => {
    const fields: unknown = definition[part];
    if (fields === undefined) return [];
    if (typeof fields !== "object" || fields === null) return [`its ${part} must be an object of fields`];
    const wrong = Object.entries(fields).filter(([, field]) => !isField(field));
    return wrong.map(([name]) => `"${name}" in its ${part} is not a field such as string or int.min(1)`);
  });
  if (definition.input !== undefined && method === "GET")
    problems.push("GET has no body, so it takes no input; use .query()");
  return problems;
}

function isField(value: unknown): boolean {
  return typeof (value as { definition?: { kind?: unknown } } | null | undefined)?.definition?.kind === "object";
}
