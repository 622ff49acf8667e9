/** Builds a Keelson app from a model: rules become functions and `where` objects, as a user would write them. */
import type { AnyEntity, Driver, Keelson, Logger, Rule, User } from "keelson";
import { TENANT, TENANT_FIELD, withCompanion, withoutRules } from "./companions.ts";
import { actionsOf } from "./entity-actions.ts";
import type { Features } from "./features.ts";
import { library } from "./library.ts";
import type {
  Caller,
  Condition,
  EntityModel,
  FieldModel,
  Model,
  Principal,
  RelationModel,
  RuleModel,
  Value,
} from "./model.ts";

const k = library;

/** Runs while a rule reads a record, so that a test can change data in between. */
export interface Interruption {
  run: (() => Promise<void>) | undefined;
}

export interface OracleApp {
  readonly api: Keelson;
  readonly model: Model;
  readonly entities: ReadonlyMap<string, AnyEntity>;
  readonly interruption: Interruption;
  /** The number of scenarios run on it; idempotency keys are never reused. */
  scenarios: number;
  /** The stored rows and pairs of another tenant. */
  others: ReadonlySet<string>;
  /** Sets the ids of the records that are created next. */
  nameIds(uid: string): void;
}

type Chain = Record<string, (...args: readonly unknown[]) => Chain>;
/** The names of modifiers come from data, so the compiler cannot check them. */
const modify = (on: unknown, method: string, ...args: readonly unknown[]): unknown =>
  ((on as Chain)[method] as (...args: readonly unknown[]) => Chain).call(on, ...args);

const valueFrom = (value: Value, me: Principal): unknown =>
  typeof value === "object" && value !== null ? (me as Caller)[value.me] : value;

const mentionsMe = (condition: Condition): boolean => JSON.stringify(condition).includes('"me"');

/** The `where` object of a condition. */
export function whereOf(condition: Condition, me: Principal): Record<string, unknown> {
  switch (condition.is) {
    case "column": {
      const { column, op, value } = condition;
      const given = Array.isArray(value) ? value.map((one) => valueFrom(one, me)) : valueFrom(value as Value, me);
      return { [column]: op === "eq" ? given : { [op]: given } };
    }
    case "related":
      return { [condition.relation]: whereOf(condition.matches, me) };
    case "not":
      return { NOT: whereOf(condition.of, me) };
    default:
      return { [condition.is === "and" ? "AND" : "OR"]: condition.of.map((one) => whereOf(one, me)) };
  }
}

/** The same condition as code that reads the record; it uses only the record's own columns. */
function testOf(condition: Condition, record: Record<string, unknown>, me: Principal): boolean {
  switch (condition.is) {
    case "and":
      return condition.of.every((one) => testOf(one, record, me));
    case "or":
      return condition.of.some((one) => testOf(one, record, me));
    case "not":
      return !testOf(condition.of, record, me);
    case "related":
      throw new TypeError("a function sees no related records");
    default: {
      const stored = record[condition.column] ?? null;
      const given = Array.isArray(condition.value)
        ? condition.value.map((one) => valueFrom(one, me))
        : valueFrom(condition.value as Value, me);
      if (condition.op === "ne") return stored !== given;
      if (condition.op === "null") return (stored === null) === given;
      if (condition.op === "in") return stored !== null && (given as unknown[]).includes(stored);
      if (condition.op === "nin") return stored === null || !(given as unknown[]).includes(stored);
      if (stored === null || given === null) return condition.op === "eq" && stored === given;
      if (condition.op === "eq") return stored === given;
      const [a, b] = [stored as number, given as number];
      return { gt: a > b, gte: a >= b, lt: a < b, lte: a <= b, like: false, starts: false, ends: false }[condition.op];
    }
  }
}

/** Accesses that can be interrupted before a write, but not while the response is masked. */
const GATED = ["update", "delete"];

/** Rule names must be unique within an app. */
let rulesMade = 0;

function ruleOf(model: RuleModel, interruption: Interruption): Rule | string {
  rulesMade += 1;
  const named = (name: string): string => `${name} ${rulesMade}`;
  const look = (test: Condition) => {
    const answer = (record: Record<string, unknown> | null, user: Principal): boolean =>
      record !== null && (user !== null || !mentionsMe(test)) && testOf(test, record, user);
    return (context: { record: unknown; user: unknown; operation: string }): boolean | Promise<boolean> => {
      const found = answer(context.record as Record<string, unknown> | null, context.user as Principal);
      const { run } = interruption;
      if (run === undefined || context.record === null || !GATED.includes(context.operation)) return found;
      return run().then(() => found);
    };
  };
  const where = (condition: Condition) => (context: { user: unknown }) =>
    context.user === null && mentionsMe(condition) ? false : whereOf(condition, context.user as Principal);
  switch (model.rule) {
    case "team":
      return k.defineRule(named(`team ${model.team}`), ({ user }) => (user as Principal)?.team === model.team);
    case "where":
      return k.defineRule(named("where"), where(model.where));
    case "record":
      return k.defineRule(named("record"), look(model.test));
    case "guarded":
      return k.defineRule(named("guarded"), look(model.test), { where: where(model.where) });
    case "all":
      return (k.all as (...rules: unknown[]) => unknown)(...model.of.map((one) => ruleOf(one, interruption))) as Rule;
    default:
      return model.rule;
  }
}

const NEVER: Interruption = { run: undefined };

function fieldOf(model: FieldModel): unknown {
  let field: unknown = {
    string: model.long ? k.text : k.string,
    int: k.int,
    bool: k.bool,
    datetime: k.datetime,
    decimal: k.decimal?.(6, 2),
  }[model.kind];
  const apply = (method: string, ...args: readonly unknown[]): void => {
    field = modify(field, method, ...args);
  };
  if (model.optional) apply("optional");
  if (model.unique) apply("unique");
  if (model.default !== undefined) apply("default", model.default);
  if (model.computedFrom) apply("computed");
  else if (model.readonly) apply("readonly");
  if (model.omit) apply("omit");
  if (model.password) apply("password", { cost: 1 });
  if (model.encrypted) apply("encrypted", { searchable: model.encrypted === "searchable" });
  if (model.searched !== undefined) apply("searchable", { weight: model.searched });
  if (model.readable) apply("readable", ...model.readable.map((rule) => ruleOf(rule, NEVER)));
  if (model.writable) apply("writable", ...model.writable.map((rule) => ruleOf(rule, NEVER)));
  return field;
}

function relationFrom(model: RelationModel, target: () => AnyEntity): unknown {
  let relation: unknown = model.kind === "selfRef" ? k.selfRef() : k[model.kind](target as never);
  if (model.optional) relation = modify(relation, "optional");
  if (model.unique) relation = modify(relation, "unique");
  if (model.onDelete) relation = modify(relation, "onDelete", model.onDelete);
  if (model.inverse) relation = modify(relation, "inverse", model.inverse);
  return relation;
}

function entityOf(
  model: EntityModel,
  find: (name: string) => AnyEntity,
  interruption: Interruption,
  full: boolean,
): AnyEntity {
  const members = Object.fromEntries([
    ...model.fields.filter(({ name }) => name !== TENANT_FIELD).map((field) => [field.name, fieldOf(field)]),
    ...model.relations.map((relation) => [relation.name, relationFrom(relation, () => find(relation.target))]),
  ]);
  let builder: unknown = modify(k.entity(model.name, members as never), "timestamps", false);
  if (model.ownedBy) builder = modify(builder, "ownedBy", model.ownedBy);
  if (model.softDelete) builder = modify(builder, "softDelete");
  if (model.hideForbidden) builder = modify(builder, "hideForbidden");
  if (model.minGroup) builder = modify(builder, "minGroup", model.minGroup);
  const rules = Object.entries(model.rules).map(([access, list]) => [
    access,
    list.map((rule) => ruleOf(rule, interruption)),
  ]);
  builder = modify(builder, "rules", Object.fromEntries(rules));
  for (const { holds, at } of model.validators)
    builder = modify(
      builder,
      "validate",
      (data: Record<string, unknown>) => testOf(holds, data, null),
      "does not fit",
      { fields: [at] },
    );
  if (full)
    builder = modify(
      builder,
      "actions",
      actionsOf(
        model,
        () => find(model.name),
        (rule) => ruleOf(rule, NEVER),
      ),
    );
  return modify(builder, "build") as unknown as AnyEntity;
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
// One key for the whole process, so that stored values can be decrypted for comparison.
k.initEncryption({ key: "5f".repeat(32) });

/** A caller as the app sees them: of the scenario's tenant, unless they name another. */
export const userOf = (by: Principal): User | null => (by === null ? null : ({ tenantId: TENANT, ...by } as User));

/** Builds the app and waits until it is ready. */
export async function buildApp(model: Model, driver: Driver, features: Features): Promise<OracleApp> {
  const interruption: Interruption = { run: undefined };
  rulesMade = 0;
  const hasEncrypted = model.entities.some(({ fields }) => fields.some((one) => one.encrypted !== undefined));
  const entities = new Map<string, AnyEntity>();
  const find = (name: string): AnyEntity => {
    const found = entities.get(name);
    if (found === undefined) throw new TypeError(`no entity ${name}`);
    return found;
  };
  // When CASL decides, entities have no rules.
  const stated = features.has("casl") ? model.entities.map(withoutRules) : model.entities;
  for (const one of stated) entities.set(one.name, entityOf(one, find, interruption, true));
  let uid = "x";
  let made = 0;
  const api = k.keelson({
    entities: [...entities.values()],
    driver,
    logger: silent,
    ...(model.pageBytes !== undefined && { limits: { pageBytes: model.pageBytes } }),
    ids: {
      next() {
        made += 1;
        return `${uid}x${String(made).padStart(3, "0")}`;
      },
    },
    getUser: ({ headers }) => {
      const said = headers.get("x-caller");
      return said === null ? null : userOf(JSON.parse(said) as Caller);
    },
    plugins: (defaults) => {
      const plain = defaults.replace("workflows", k.workflows({ journal: false }));
      const replays = features.has("replays") ? [k.idempotency({ encrypted: hasEncrypted })] : [];
      return [...withCompanion(model, features, plain), ...replays];
    },
  }) as unknown as Keelson;
  await api.ready;
  return {
    api,
    model,
    entities,
    interruption,
    scenarios: 0,
    others: new Set(),
    nameIds(next) {
      uid = next;
      made = 0;
    },
  };
}
