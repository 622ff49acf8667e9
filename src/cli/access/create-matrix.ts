import { type AnyEntity, type ColumnDefinition, ruleName } from "../../entity/index.ts";
import type { KeelsonConfig, RouteListing } from "../../index.ts";
import type { AppParts } from "../project/load-project.ts";
import {
  type AccessMatrix,
  type EntityAccess,
  type FieldAccess,
  type Grants,
  OPERATIONS,
  type Operation,
} from "./access-matrix.ts";
import { ALWAYS, allOf, anyOf, type Grant, NEVER, ROLES, type Role, when } from "./grant.ts";

/** The case that a rule decides on. */
interface Question {
  readonly role: Role;
  /** Undefined on endpoints that belong to no entity. */
  readonly entity: AnyEntity | undefined;
  /** Whether a record is being created, whose owner the caller becomes. */
  readonly isCreate: boolean;
}

function owns({ role, entity, isCreate }: Question): boolean {
  if (entity?.ownedBy === undefined || role === "anonymous") return false;
  // The creator of a record that owns itself does not become its owner.
  return isCreate ? entity.ownedBy !== "id" : role === "owner";
}

const BUILT_IN: Readonly<Record<string, (question: Question) => boolean>> = {
  everyone: () => true,
  authenticated: ({ role }) => role !== "anonymous",
  admin: ({ role }) => role === "admin",
  owner: owns,
  ownerOrAdmin: (question) => question.role === "admin" || owns(question),
};

/**
 * The permission that a rule grants. Custom rules are not called: their result for a made-up caller proves nothing
 * about real ones, and they may query the database. They stay conditions, by name.
 */
function grantOfRule(name: string, question: Question): Grant {
  const parts = partsOfAll(name);
  if (parts !== undefined) return allOf(parts.map((part) => grantOfRule(part, question)));
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  if (builtIn === undefined) return when(name);
  return builtIn(question) ? ALWAYS : NEVER;
}

/** The permission that a list of rules grants: one rule must pass, and an empty list denies. */
function grantOfRules(names: readonly string[], question: Question): Grant {
  return anyOf(names.map((name) => grantOfRule(name, question)));
}

/** Parses the rules that the name `all(a,b)` combines; undefined for other names. Parentheses may be nested. */
function partsOfAll(name: string): readonly string[] | undefined {
  const inner = /^all\((.*)\)$/s.exec(name)?.[1];
  if (inner === undefined) return undefined;
  const parts: string[] = [""];
  let depth = 0;
  for (const char of inner) {
    if (char === "(") depth++;
    if (char === ")") depth--;
    if (char === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim());
}

type EntityRules = NonNullable<KeelsonConfig["defaultRules"]>;

/**
 * Makes the matrix of an app from its definitions: of entities with routes, and of entities that are reached by
 * includes only, which are internal or belong to other services.
 */
export function createMatrix({ model, routes }: AppParts, { defaultRules = {} }: KeelsonConfig): AccessMatrix {
  const routed = model.entities.filter(({ internal }) => !internal);
  const shown = new Set(routed);
  // Iteration over a set includes items that are added during the loop.
  for (const entity of shown) for (const { target } of model.relationsOf(entity)) shown.add(target);
  const rulesOf = (entity: AnyEntity): EntityRules => {
    const rules = entity.rules ?? defaultRules;
    return routed.includes(entity) ? rules : { read: rules.read ?? [] };
  };
  const sorted = [...shown].sort((a, b) => (a.name < b.name ? -1 : 1));
  const paths = routes.map((route) => [`${route.method} ${route.path}`, route] as const);
  return {
    version: 1,
    entities: Object.fromEntries(sorted.map((entity) => [entity.name, accessOf(entity, rulesOf(entity))])),
    routes: Object.fromEntries(
      paths
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([path, route]) => {
          const entity = model.get(route.entity ?? "");
          return [path, grantsOfRoute(route, entity, entity === undefined ? {} : rulesOf(entity))];
        }),
    ),
  };
}

function perRole(grantOf: (role: Role) => Grant): Grants {
  return Object.fromEntries(ROLES.map((role) => [role, grantOf(role)])) as Grants;
}

function accessOf(entity: AnyEntity, rules: EntityRules): EntityAccess {
  const grantsOf = (operation: Operation): Grants =>
    perRole((role) =>
      grantOfRules((rules[operation] ?? []).map(ruleName), { role, entity, isCreate: operation === "create" }),
    );
  const operations = Object.fromEntries(OPERATIONS.map((operation) => [operation, grantsOf(operation)]));
  const shown = Object.values(entity.columns).filter(({ of }) => of === undefined);
  return {
    operations: operations as EntityAccess["operations"],
    fields: Object.fromEntries(
      shown.map((column) => [column.name, fieldAccess(entity, column, operations as EntityAccess["operations"])]),
    ),
  };
}

/** The access to a column: the entity's rules, narrowed by the column's own rules. */
function fieldAccess(entity: AnyEntity, column: ColumnDefinition, operations: EntityAccess["operations"]): FieldAccess {
  const { name, field } = column;
  const own = (rules: readonly string[] | undefined, role: Role, isCreate: boolean): readonly Grant[] =>
    rules === undefined ? [] : [grantOfRules(rules, { role, entity, isCreate })];
  const writable = (operation: "create" | "update"): Grants =>
    perRole((role) =>
      isWritten(entity, column, role)
        ? allOf([operations[operation][role], ...own(field?.writable, role, operation === "create")])
        : NEVER,
    );
  return {
    create: writable("create"),
    read: perRole((role) =>
      entity.hidden.includes(name) ? NEVER : allOf([operations.read[role], ...own(field?.readable, role, false)]),
    ),
    update: writable("update"),
  };
}

/**
 * Whether a role can set a column's value: no role for the framework's own columns, only an administrator for the
 * owner's.
 */
function isWritten(entity: AnyEntity, { role: kind, field, relation }: ColumnDefinition, role: Role): boolean {
  if (kind === "foreignKey") return entity.ownedBy !== relation || role === "admin";
  return kind === "field" && field?.readonly !== true;
}

function grantsOfRoute(
  { method, path, rules }: RouteListing,
  entity: AnyEntity | undefined,
  { create = [] }: EntityRules,
): Grants {
  // A POST without a record creates one if it has the entity's create rule; other rules are about the action.
  const obeysCreate = rules.join() === create.map(ruleName).join();
  const isCreate = obeysCreate && method === "POST" && !path.includes("/:id");
  return perRole((role) => grantOfRules(rules, { role, entity, isCreate }));
}
