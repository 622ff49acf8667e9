import { type Access, type ActionFields, type AnyEntity, ruleName } from "../../../entity/index.ts";
import type { FieldChecks, FieldReader, RuleLists } from "../../../gate/index.ts";
import type { ActionDefinition } from "./action-definition.ts";
import { actionProblems } from "./action-problems.ts";
import { definitionOf } from "./definition-of.ts";

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
  const below = `/${(found.path ?? name).replace(/^\//, "")}`;
  const onResource = found.onResource ?? UNDER_ID.test(below);
  const path = onResource && !UNDER_ID.test(below) ? `/:id${below}` : below;
  const problems = actionProblems({ entity, name, definition: found, method, path, onResource });
  for (const sentence of problems) problem(`${at}: ${sentence}`);
  if (problems.length > 0) return undefined;
  const own = found.rules === undefined ? undefined : Object.freeze(found.rules.flat().map(ruleName));
  if (own !== undefined) rules.compile(own, entity, at);
  const reader = (of: ActionFields | undefined): FieldReader | undefined =>
    of && fields.compile(Object.fromEntries(Object.entries(of).map(([key, field]) => [key, field.definition])));
  return Object.freeze({
    name,
    entity,
    definition: found,
    method,
    path,
    onResource,
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
