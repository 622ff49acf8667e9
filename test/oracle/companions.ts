/** Apps with a plugin of `examples/plugins`: one that separates tenants, or one that replaces rules. */
import { AbilityBuilder, createMongoAbility, type MongoAbility } from "@casl/ability";
import type { Plugin, PluginList } from "keelson";
import { casl } from "../../examples/plugins/casl/src/index.ts";
import { tenancy } from "../../examples/plugins/tenancy/src/index.ts";
import type { Features } from "./features.ts";
import {
  type Access,
  type Caller,
  type Condition,
  type Data,
  type EntityModel,
  keyOf,
  keysOf,
  type Model,
  ownerColumn,
  type Principal,
  type Row,
  type RuleModel,
  type Value,
} from "./model.ts";

/** The callers' tenant, and the field that the plugin adds to every record. */
export const TENANT = "a";
export const TENANT_FIELD = "tenantId";
/** The user that stores the rows of each tenant. */
export const OWN_TENANT = { id: "seeder", team: "red", [TENANT_FIELD]: TENANT };
export const OTHER_TENANT = { id: "seeder", team: "red", [TENANT_FIELD]: "b" };

/** The field as the evaluator sees it: a default that callers cannot change. */
export const tenantField = {
  name: TENANT_FIELD,
  kind: "string",
  optional: true,
  readonly: true,
  default: TENANT,
} as const;

/** Whether records of several tenants are stored. */
export const isShared = ({ entities }: Model): boolean =>
  entities.some(({ fields }) => fields.some(({ name }) => name === TENANT_FIELD));

export const ofOtherTenant = (id: string): string => `b${id}`;

/** The same rows and pairs for another tenant, with different ids and unique values. */
export function dataOfOtherTenant(model: Model, { rows, pairs }: Data): Data {
  const copyOf = (entity: EntityModel, row: Row): Row => {
    const changed = Object.entries(row).map(([name, value]) => {
      const field = entity.fields.find((one) => one.name === name);
      const isId = name === "id" || keysOf(entity).some((one) => keyOf(one) === name);
      if (value === null) return [name, value];
      if (name === TENANT_FIELD) return [name, OTHER_TENANT[TENANT_FIELD]];
      return [name, isId ? ofOtherTenant(String(value)) : field?.unique ? `${String(value)} b` : value];
    });
    return Object.fromEntries(changed) as Row;
  };
  return {
    rows: Object.fromEntries(
      model.entities.map((entity) => [entity.name, (rows[entity.name] ?? []).map((row) => copyOf(entity, row))]),
    ),
    pairs: Object.fromEntries(
      Object.entries(pairs).map(([at, list]) => [at, list.map((pair) => pair.split("|").map(ofOtherTenant).join("|"))]),
    ),
  };
}

/** All rows and pairs as comparable texts. */
export const textsOf = ({ rows, pairs }: Data): ReadonlySet<string> =>
  new Set([
    ...Object.entries(rows).flatMap(([name, list]) => list.map((row) => `${name} ${JSON.stringify(row)}`)),
    ...Object.entries(pairs).flatMap(([at, list]) => list.map((pair) => `${at} ${pair}`)),
  ]);

/** The stored rows and pairs that differ from the earlier state; deleted ones are included as rows. */
export function withoutOthers(stored: Data, others: ReadonlySet<string>): Data {
  const now = textsOf(stored);
  const gone = [...others].filter((text) => !now.has(text)).map((text): Row => ({ id: `gone: ${text}` }));
  const names = Object.keys(stored.rows);
  return {
    rows: Object.fromEntries(
      names.map((name, at) => [
        name,
        [
          ...(stored.rows[name] ?? []).filter((row) => !others.has(`${name} ${JSON.stringify(row)}`)),
          ...(at === 0 ? gone : []),
        ],
      ]),
    ),
    pairs: Object.fromEntries(
      Object.entries(stored.pairs).map(([at, list]) => [at, list.filter((pair) => !others.has(`${at} ${pair}`))]),
    ),
  };
}

/** The plugins of an app, including the requested one. */
export function withCompanion(model: Model, features: Features, plugins: PluginList): readonly Plugin[] {
  if (features.has("tenancy")) return [...plugins, tenancy({ shared: [] })];
  if (!features.has("casl")) return [...plugins];
  return [...plugins.replace("rules", casl({ abilityFor: (user) => abilityOf(model, user as unknown as Principal) }))];
}

/** An entity of an app whose rules are defined elsewhere. */
export const withoutRules = (entity: EntityModel): EntityModel => ({
  ...entity,
  rules: {},
  fields: entity.fields.map(({ readable: _, writable: __, ...field }) => field),
});

/** The rules of a model as CASL abilities. */
function abilityOf(model: Model, by: Principal): MongoAbility {
  const { can, build } = new AbilityBuilder(createMongoAbility);
  for (const entity of model.entities)
    for (const access of ["create", "read", "update", "delete"] as const) {
      const fields = fieldsFor(entity, access, by);
      for (const rule of entity.rules[access] ?? []) {
        const found = conditionsOf(entity, access, rule, by);
        if (found !== undefined) can(access, entity.name, fields, Object.keys(found).length > 0 ? found : undefined);
      }
    }
  return build();
}

/** Fields that no field rule hides from the caller. */
function fieldsFor(entity: EntityModel, access: Access, by: Principal): string[] {
  const keys = keysOf(entity).map(keyOf);
  const given = entity.fields.filter(({ readable, writable }) => {
    const rules = access === "read" ? readable : writable;
    return rules?.some((rule) => conditionsOf(entity, access, rule, by) !== undefined) ?? true;
  });
  return [...given.map(({ name }) => name), ...keys];
}

/** The condition of a rule: empty if it passes for all records, undefined if it passes for no record. */
function conditionsOf(
  entity: EntityModel,
  access: Access,
  rule: RuleModel,
  by: Principal,
): Record<string, unknown> | undefined {
  const owner = ownerColumn(entity);
  switch (rule.rule) {
    case "everyone":
      return {};
    case "authenticated":
      return by === null ? undefined : {};
    case "admin":
      return by?.role === "admin" ? {} : undefined;
    case "team":
      return by?.team === rule.team ? {} : undefined;
    case "owner":
      if (by === null || owner === undefined) return undefined;
      if (access === "create") return owner === "id" ? undefined : {};
      return { [owner]: by.id };
    case "where":
      return by === null && JSON.stringify(rule.where).includes('"me"') ? undefined : mongoOf(rule.where, by);
    default:
      throw new TypeError(`CASL is not told of a rule "${rule.rule}"`);
  }
}

/** A condition on one column, in CASL's syntax. */
function mongoOf(condition: Condition, by: Principal): Record<string, unknown> {
  if (condition.is !== "column") throw new TypeError(`CASL is not told of "${condition.is}"`);
  const given = (value: Value): unknown =>
    typeof value === "object" && value !== null ? (by as Caller)[value.me] : value;
  const { column, op, value } = condition;
  const test = Array.isArray(value) ? value.map(given) : given(value as Value);
  return { [column]: { [`$${op}`]: test } };
}
