/** Random models: small enough to be read, and some with every kind of relation, rule and protected field. */
import { tenantField } from "../companions.ts";
import type { Features } from "../features.ts";
import {
  type Access,
  type ActionName,
  type Condition,
  computedNames,
  type EntityModel,
  type FieldModel,
  type Model,
  type RelationModel,
  type ReportModel,
  type RuleModel,
  relationOf,
  type Value,
} from "../model.ts";
import type { Random } from "../random.ts";
import { type Draft, relate } from "./relations.ts";

export const TEXTS = ["red", "blue", "green", "amber"] as const;
const NAMES = ["user", "group", "note", "tag"] as const;

/** Columns that conditions may use: those stored in clear. */
function plainColumns(entity: EntityModel): { name: string; kind: FieldModel["kind"]; optional: boolean }[] {
  const fields = entity.fields
    .filter((one) => !(one.password || one.encrypted || one.kind === "datetime" || one.kind === "decimal"))
    .map(({ name, kind, optional = false }) => ({ name, kind, optional }));
  return fields;
}

const valueFor = (random: Random, kind: FieldModel["kind"]): Value => {
  if (kind === "bool") return random.chance(0.5);
  if (kind === "int") return random.below(4);
  return random.chance(0.35) ? { me: "team" } : random.pick(TEXTS);
};

/** A condition on columns of the record itself. */
export function ownCondition(
  random: Random,
  entity: EntityModel,
  { me, without = [], flat = false }: { me: boolean; without?: readonly string[]; flat?: boolean },
): Condition {
  const columns = plainColumns(entity).filter(({ name }) => !without.includes(name));
  const leaf = (): Condition => {
    const keys = entity.relations.filter(({ kind, target }) => kind === "belongsTo" && target === "user");
    if (me && keys.length > 0 && random.chance(0.3))
      return { is: "column", column: `${random.pick(keys).name}Id`, op: "eq", value: { me: "id" } };
    const computed = columns.filter(({ name }) => computedNames(entity).includes(name));
    const { name, kind, optional } = random.pick(computed.length > 0 && random.chance(0.3) ? computed : columns);
    if (optional && random.chance(0.15)) return { is: "column", column: name, op: "null", value: random.chance(0.5) };
    const literal = (): Value => {
      const value = valueFor(random, kind);
      return !me && typeof value === "object" ? random.pick(TEXTS) : value;
    };
    if (kind === "int")
      return { is: "column", column: name, op: random.pick(["gte", "lt", "ne", "gt"]), value: literal() };
    if (kind === "string" && random.chance(0.2))
      return { is: "column", column: name, op: random.pick(["in", "nin"]), value: [literal(), literal()] };
    return { is: "column", column: name, op: random.chance(0.75) ? "eq" : "ne", value: literal() };
  };
  if (flat || random.chance(0.7)) return leaf();
  if (random.chance(0.3)) return { is: "not", of: leaf() };
  return { is: random.pick(["and", "or"]), of: [leaf(), leaf()] };
}

/** A condition on related records, which may lead back to the record's own table. */
function relatedCondition(
  random: Random,
  drafts: readonly Draft[],
  entity: Draft,
  depth: number,
): Condition | undefined {
  if (entity.relations.length === 0) return undefined;
  const relation = random.pick(entity.relations);
  const target = drafts.find(({ name }) => name === relation.target) as Draft;
  const deeper = depth > 1 && random.chance(0.5) ? relatedCondition(random, drafts, target, depth - 1) : undefined;
  const own = (): Condition =>
    target.ownedBy === "id" && random.chance(0.5)
      ? { is: "column", column: "id", op: "eq", value: { me: "id" } }
      : ownCondition(random, target, { me: true, flat: true });
  const matches: Condition =
    deeper === undefined ? own() : random.chance(0.3) ? { is: "and", of: [deeper, own()] } : deeper;
  const found: Condition = { is: "related", relation: relation.name, matches };
  return random.chance(0.1) ? { is: "not", of: found } : found;
}

/** Whether a new record can satisfy its condition itself, through a path that leads back to its table. */
function leadsBack(drafts: readonly Draft[], entity: Draft, condition: Condition, home: string): boolean {
  if (condition.is === "column") return false;
  if (condition.is === "not") return leadsBack(drafts, entity, condition.of, home);
  if (condition.is !== "related") return condition.of.some((one) => leadsBack(drafts, entity, one, home));
  const relation = relationOf(entity, condition.relation) as RelationModel;
  if (relation.target === home) return true;
  const target = drafts.find(({ name }) => name === relation.target) as Draft;
  return leadsBack(drafts, target, condition.matches, home);
}

function oneRule(
  random: Random,
  features: Features,
  drafts: readonly Draft[],
  entity: Draft,
  access: Access,
): RuleModel {
  const where = (): RuleModel => {
    const related = random.chance(0.45) ? relatedCondition(random, drafts, entity, 3) : undefined;
    if (related === undefined) return { rule: "where", where: ownCondition(random, entity, { me: true }) };
    const isBack = leadsBack(drafts, entity, related, entity.name);
    const needed = access === "create" ? "creates" : access === "update" && isBack ? "paths" : "basics";
    if (features.has(needed) || needed === "basics") return { rule: "where", where: related };
    return { rule: "where", where: ownCondition(random, entity, { me: true }) };
  };
  // Code fails if it reads a value of a new record that the database will compute.
  const without = access === "create" ? computedNames(entity) : [];
  const record = (): RuleModel => ({ rule: "record", test: ownCondition(random, entity, { me: true, without }) });
  const roll = random.below(features.has("casl") ? 54 : 100);
  if (roll < 14) return { rule: "everyone" };
  if (roll < 32) return { rule: "authenticated" };
  if (features.has("casl") && random.chance(0.4)) return { rule: "where", where: caslCondition(random, entity) };
  if (roll < 42 && entity.ownedBy)
    return { rule: random.chance(0.7) || features.has("casl") ? "owner" : "ownerOrAdmin" };
  if (roll < 48) return { rule: "admin" };
  if (roll < 54) return { rule: "team", team: random.pick(TEXTS) };
  if (roll < 62) return record();
  if (roll < 67)
    return {
      rule: "guarded",
      test: ownCondition(random, entity, { me: true, without: computedNames(entity) }),
      where: ownCondition(random, entity, { me: true }),
    };
  if (roll < 75) {
    const second = features.has("conjunctions") && access !== "create" ? record() : where();
    return { rule: "all", of: [where(), random.chance(0.7) ? second : { rule: "authenticated" }] };
  }
  return where();
}

/** What the CASL example supports: a comparison of one column. */
function caslCondition(random: Random, entity: Draft, me = true): Condition {
  for (;;) {
    const found = ownCondition(random, entity, { me, flat: true });
    if (found.is === "column" && found.op !== "null" && found.op !== "nin") return found;
  }
}

function ruleList(
  random: Random,
  features: Features,
  drafts: readonly Draft[],
  entity: Draft,
  access: Access,
): RuleModel[] {
  const wide: RuleModel[] = random.chance(access === "read" ? 0.35 : 0.15) ? [{ rule: "authenticated" }] : [];
  const count = random.chance(0.7) ? 1 : 2;
  const rules = Array.from({ length: count }, () => oneRule(random, features, drafts, entity, access));
  // The CASL example shows no field of a record that the caller may not read.
  if (features.has("casl") && access === "read")
    return [...rules, { rule: "where", where: caslCondition(random, entity, false) }];
  return random.chance(0.04) ? [] : [...rules, ...wide];
}

function fieldRules(random: Random, features: Features, entity: Draft, except: readonly string[]): RuleModel[] {
  const roll = random.below(10);
  if (features.has("casl")) return random.pick([[{ rule: "admin" }], [{ rule: "team", team: random.pick(TEXTS) }]]);
  if (roll < 2) return [{ rule: "admin" }];
  if (roll < 4 && entity.ownedBy) return [{ rule: "owner" }, { rule: "admin" }];
  if (roll < 5) return [{ rule: "team", team: random.pick(TEXTS) }];
  const test = ownCondition(random, entity, { me: true, without: except, flat: true });
  return [roll < 8 ? { rule: "where", where: test } : { rule: "record", test }];
}

/** For handlers that read records themselves, it matters which data beyond its own columns a field's rule uses. */
function readableRules(random: Random, features: Features, drafts: readonly Draft[], entity: Draft): RuleModel[] {
  const plain = fieldRules(random, features, entity, []);
  if (!features.has("handlers") || random.chance(0.6)) return plain;
  const other = oneRule(random, features, drafts, entity, "read");
  return random.chance(0.5) ? [other] : [...plain, other];
}

/** An action whose handler reads records itself. */
function reportOf(random: Random, features: Features, drafts: readonly Draft[], entity: Draft): ReportModel {
  const method = random.pick(["GET", "POST"] as const);
  const rules = random.chance(0.6) ? ruleList(random, features, drafts, entity, "read") : undefined;
  // An owner-only action cannot start without a record.
  const isOwners = rules !== undefined && rules.length > 0 && rules.every(({ rule }) => rule === "owner");
  return { method, ...((isOwners || random.chance(0.5)) && { onResource: true }), ...(rules && { rules }) };
}

function fieldsOf(random: Random, features: Features, name: string): FieldModel[] {
  const fields: FieldModel[] = [
    {
      name: "name",
      kind: "string",
      ...(random.chance(0.3) && { optional: true }),
      ...(random.chance(0.3) && { unique: true }),
    },
  ];
  if (random.chance(0.7))
    fields.push({ name: "team", kind: "string", ...(random.chance(0.5) ? { default: "red" } : { optional: true }) });
  if (random.chance(0.6))
    fields.push({ name: "rank", kind: "int", ...(random.chance(0.5) ? { default: 0 } : { optional: true }) });
  if (random.chance(0.6)) fields.push({ name: "open", kind: "bool", default: random.chance(0.5) });
  if (name !== "user" && random.chance(0.25))
    fields.push({ name: "role", kind: "string", default: random.pick(TEXTS) });
  // Features are also tested on early commits, which had no decimals.
  if (features.has("queries") && random.chance(0.4)) fields.push({ name: "price", kind: "decimal", optional: true });
  if (features.has("queries") && random.chance(0.4)) fields.push({ name: "at", kind: "datetime", optional: true });
  if (random.chance(0.15)) fields.push({ name: "memo", kind: "string", optional: true, readonly: true });
  if (random.chance(0.35))
    fields.push({
      name: "secret",
      kind: "string",
      optional: true,
      ...random.pick([
        { omit: true },
        { encrypted: "plain" },
        { encrypted: "searchable" },
        { encrypted: "searchable", unique: true },
        { password: true },
      ] as const),
    });
  if (features.has("computed") && random.chance(0.35)) {
    const sources = fields.filter(({ name }) => ["name", "team", "role"].includes(name)).map((one) => one.name);
    fields.push({
      name: "shade",
      kind: "string",
      optional: true,
      readonly: true,
      computedFrom: random.pick(sources),
    });
  }
  return fields;
}

/** A text of any length that some callers may not read, or not on all records. */
function longField(random: Random, features: Features, entity: Draft): FieldModel {
  const field = { name: "story", kind: "string", optional: true, long: true } as const;
  return random.chance(0.5) ? { ...field, readable: fieldRules(random, features, entity, []) } : field;
}

const ACTIONS: readonly ActionName[] = ["clone", "bulkUpdate", "bulkDelete", "count", "exists", "export", "import"];

/** Some texts are searchable by words. */
function withSearched(random: Random, fields: readonly FieldModel[]): FieldModel[] {
  const canBe = ({ kind, omit, encrypted, password, computedFrom }: FieldModel): boolean =>
    kind === "string" && !omit && encrypted === undefined && !password && computedFrom === undefined;
  return fields.map((field) =>
    canBe(field) && random.chance(0.4) ? { ...field, searched: 1 + random.below(3) } : field,
  );
}

export function makeModel(random: Random, features: Features): Model {
  const names = NAMES.slice(0, 2 + random.below(3));
  const drafts: Draft[] = names.map((name) => ({
    name,
    fields: fieldsOf(random, features, name),
    relations: [],
    rules: {},
    validators: [],
    actions: [],
  }));
  relate(random, features, drafts);
  for (const draft of drafts) {
    const owners = draft.relations.filter(({ kind, target }) => kind === "belongsTo" && target === "user");
    if (draft.name === "user") draft.ownedBy = "id";
    // The plugin that replaces rules also sets owners, which the CASL example does not.
    else if (owners.length > 0 && !features.has("casl") && random.chance(0.6)) draft.ownedBy = random.pick(owners).name;
    if (random.chance(0.12)) draft.hideForbidden = true;
    if (features.has("queries") && random.chance(0.2)) draft.minGroup = 2;
  }
  for (const draft of drafts) {
    const actions: ActionName[] = random.some(ACTIONS, 0.6);
    if (random.chance(0.35)) {
      draft.softDelete = true;
      draft.fields.push({ name: "deletedAt", kind: "datetime", optional: true });
      actions.push("softDelete", "restore");
    }
    if (random.chance(0.25)) {
      draft.fields.push({ name: "flag", kind: "bool", default: false });
      actions.push("toggle");
    }
    if (random.chance(0.2)) {
      draft.fields.push({ name: "archived", kind: "bool", default: false });
      actions.push("archive", "unarchive");
    }
    draft.actions = actions;
  }
  for (const draft of drafts) {
    const narrowed = draft.fields
      .filter(
        (one) =>
          !one.password && !one.readonly && one.kind !== "datetime" && (one.optional || one.default !== undefined),
      )
      .filter(() => random.chance(0.2))
      .map(({ name }) => name);
    draft.fields = draft.fields.map((field) => {
      let next = field;
      const except = [...narrowed, ...computedNames(draft)];
      if (narrowed.includes(field.name) && plainColumns(draft).length > except.length)
        next = { ...next, writable: fieldRules(random, features, draft, except) };
      if (!field.omit && !field.password && field.name !== "deletedAt" && random.chance(0.15))
        next = { ...next, readable: readableRules(random, features, drafts, draft) };
      return next;
    });
    const rules: { -readonly [A in Access]?: readonly RuleModel[] } = {};
    for (const access of ["create", "read", "update", "delete"] as const)
      if (random.chance(0.96) || features.has("casl"))
        rules[access] = ruleList(random, features, drafts, draft, access);
    draft.rules = rules;
    if (features.has("handlers") && random.chance(0.8)) draft.report = reportOf(random, features, drafts, draft);
    if (random.chance(0.2) && (features.has("guesses") || !draft.softDelete))
      draft.validators = [
        { holds: ownCondition(random, draft, { me: false, without: computedNames(draft) }), at: "name" },
      ];
  }
  if (features.has("search")) for (const draft of drafts) draft.fields = withSearched(random, draft.fields);
  if (features.has("tenancy")) for (const draft of drafts) draft.fields.push(tenantField);
  if (!features.has("bytes") || random.chance(features.has("basics") ? 0.9 : 0.1)) return { entities: drafts };
  for (const draft of drafts)
    if (random.chance(0.7)) draft.fields = [...draft.fields, longField(random, features, draft)];
  return { entities: drafts, pageBytes: random.pick([200, 400, 1_000]) };
}
