import { ConfigurationError } from "./base/keelson-error.ts";
import { columnsOf, hiddenColumns } from "./columns.ts";
import type { AnyEntity, ColumnDefinition, FieldMap } from "./entity-definition.ts";
import type { FieldDefinition, RuleObject } from "./kinds/kind.ts";
import { problemsOf } from "./problems.ts";
import type { RelationDefinition } from "./relation.ts";
import { type RuleRef, ruleObjectsOf } from "./rule-ref.ts";

type Members = readonly (readonly [string, FieldDefinition | RelationDefinition])[];

/** @throws ConfigurationError with all problems of the definition */
export function defineEntity(
  rest: Omit<AnyEntity, "fields" | "relations" | "columns" | "hidden" | "ruleObjects">,
  members: Members,
  columns: AnyEntity["columns"],
  given: readonly RuleObject[],
): AnyEntity {
  const fields = members.flatMap(([name, member]) => ("kind" in member ? [[name, member] as const] : []));
  const relations = members.flatMap(([name, member]) => ("type" in member ? [[name, member] as const] : []));
  const objects = [...given, ...fields.flatMap(([, { ruleObjects }]) => Object.values(ruleObjects ?? {}).flat())];
  const definition: AnyEntity = Object.freeze({
    ...rest,
    ruleObjects: Object.freeze(Object.fromEntries(objects.map((rule) => [rule.name, rule]))),
    fields: Object.freeze(Object.fromEntries(fields)),
    relations: Object.freeze(Object.fromEntries(relations)),
    columns,
    hidden: hiddenColumns(columns),
  });
  const problems = problemsOf(definition, members, objects);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return definition;
}

/**
 * Adds fields and relations to a definition, after its own.
 * @throws ConfigurationError for a name that is taken, and for problems of the result
 */
export function extendEntity(definition: AnyEntity, added: FieldMap): AnyEntity {
  const { fields, relations, columns, hidden, ruleObjects, ...rest } = definition;
  const more = Object.entries(added).map(([key, member]) => [key, definitionOf(rest.name, key, member)] as const);
  const taken = more.filter(([name]) => Object.hasOwn(fields, name) || Object.hasOwn(relations, name));
  if (taken.length > 0)
    throw new ConfigurationError(taken.map(([name]) => `${rest.name} has a field or relation "${name}" already`));
  const own = Object.values(columns);
  const isKept = ({ role }: ColumnDefinition): boolean => ["createdAt", "updatedAt", "version"].includes(role);
  const extra = Object.values(
    columnsOf(more, {
      id: columns.id as ColumnDefinition,
      timestamps: false,
      versioned: false,
      existing: definition.existing,
    }),
  ).filter(({ role }) => role !== "id");
  const ordered = [...own.filter((column) => !isKept(column)), ...extra, ...own.filter(isKept)];
  return defineEntity(
    rest,
    [...Object.entries(fields), ...Object.entries(relations), ...more],
    Object.freeze(Object.fromEntries(ordered.map((column) => [column.name, column]))),
    Object.values(ruleObjects),
  );
}

/** Makes the field of a soft deletion readonly: only actions write it. */
export function asKept<M extends FieldDefinition | RelationDefinition>(member: M, isDeletion: boolean): M {
  return isDeletion && "kind" in member ? Object.freeze({ ...member, readonly: true }) : member;
}

/**
 * Rules that actions declare as objects. Values that are not a list of rules are skipped here and reported when the
 * actions are read.
 */
export function rulesOfActions(actions: AnyEntity["actions"]): readonly RuleObject[] {
  return Object.values(actions).flatMap((value) => {
    const { definition = value } = (value ?? {}) as { definition?: unknown };
    const rules: unknown = (definition as { rules?: unknown } | null | undefined)?.rules;
    return Array.isArray(rules) ? ruleObjectsOf((rules as RuleRef[]).flat().filter(Boolean)) : [];
  });
}

/** The definition of a member. A missing member is usually caused by an import cycle. */
export function definitionOf(
  entity: string,
  name: string,
  member: FieldMap[string] | undefined,
): FieldDefinition | RelationDefinition {
  if (typeof member === "object" && member !== null) {
    if ("definition" in member) return member.definition;
    if ("relation" in member) return member.relation;
  }
  throw new ConfigurationError(`${entity}.${name} is neither a field nor a relation`);
}
