/** Steps with concurrent changes, and requests repeated by a caller with other rights. */
import { relatedTo } from "../evaluate/conditions.ts";
import { afterMeanwhile } from "../evaluate/races.ts";
import { passes } from "../evaluate/rules.ts";
import { isLive, rowOf, rowsOf, type World } from "../evaluate/world.ts";
import {
  type Call,
  type Caller,
  type Condition,
  type EntityModel,
  entityOf,
  type FieldModel,
  keyOf,
  keysOf,
  type Meanwhile,
  pairsOf,
  type RelationModel,
  type Row,
  type RuleModel,
  relationOf,
  type Scalar,
  type Step,
} from "../model.ts";
import { valueFrom } from "./data.ts";
import { idsOf, type Making, someId } from "./making.ts";
import { TEXTS } from "./model.ts";
import { nestedInput, succeeds } from "./nested.ts";
import { inputOf, pathsOf } from "./parts.ts";

/** What an access's rules read besides the record: related rows that a revocation would change. */
function revocations(making: Making, row: Readonly<Record<string, Scalar>>, rules: readonly RuleModel[]): Meanwhile[] {
  const { random, model, world, entity } = making;
  const out: Meanwhile[] = [];
  const along = (at: EntityModel, from: Readonly<Record<string, Scalar>>, condition: Condition): void => {
    if (condition.is === "column") {
      const column = at.fields.find(({ name }) => name === condition.column)?.computedFrom ?? condition.column;
      const field = at.fields.find(({ name }) => name === column);
      if (field === undefined || field.unique || field.encrypted || field.password || field.kind === "datetime") return;
      out.push({
        set: at.name,
        id: from.id as string,
        to: { [field.name]: valueFrom(random, { ...field, name: field.name }) },
      });
      return;
    }
    if (condition.is !== "related") {
      const parts = condition.is === "not" ? [condition.of] : condition.of;
      for (const one of parts) along(at, from, one);
      return;
    }
    const relation = relationOf(at, condition.relation) as RelationModel;
    const target = entityOf(model, relation.target);
    for (const other of relatedTo(model, world, at, from, relation)) {
      if (relation.kind === "manyToMany") {
        const { at: where, flipped } = pairsOf(model, at, relation);
        out.push({ unpair: where, pair: flipped ? `${other.id}|${from.id}` : `${from.id}|${other.id}` });
      }
      along(target, other, condition.matches);
    }
  };
  const conditions = (rule: RuleModel): Condition[] => {
    if (rule.rule === "where") return [rule.where];
    if (rule.rule === "record") return [rule.test];
    if (rule.rule === "guarded") return [rule.where];
    return rule.rule === "all" ? rule.of.flatMap(conditions) : [];
  };
  for (const condition of rules.flatMap(conditions)) along(entity, row, condition);
  return out;
}

/** A workflow's step whose record must have a value that it may lose while the step waits for it. */
function matchOf(
  { random, features, entity }: Making,
  row: Row,
  meanwhile: readonly Meanwhile[],
): Pick<Step, "surface"> & Pick<Step, "match" | "meanwhile"> {
  const isPlain = ({ unique, encrypted, password, readable, omit, computedFrom, kind }: FieldModel): boolean =>
    ![unique, encrypted, password, readable, omit, computedFrom].some(Boolean) && kind !== "datetime";
  const plain = entity.fields.filter((one) => isPlain(one) && row[one.name] !== null);
  if (!features.has("steps") || plain.length === 0 || random.chance(0.7)) return { surface: "http", meanwhile };
  const field = random.pick(plain);
  const match = { [field.name]: row[field.name] as Scalar };
  const change: Meanwhile = { set: entity.name, id: row.id as string, to: { [field.name]: valueFrom(random, field) } };
  return { surface: "steps", match, meanwhile: random.chance(0.5) ? [change] : meanwhile };
}

/** A clone that waits for a record to which the original refers, while its caller loses rights. */
export function cloneOf(making: Making, uid: string): Step | undefined {
  const { random, model, world, by } = making;
  const isMasked = (entity: EntityModel): boolean =>
    entity.fields.some(({ readable }) => readable?.some(({ rule }) => rule !== "team" && rule !== "admin"));
  const steps = model.entities
    .filter((entity) => entity.actions.includes("clone") && !isMasked(entity))
    .flatMap((entity) => rowsOf(world, entity.name).map((row) => ({ entity, row })))
    .flatMap(({ entity, row }): Step[] => {
      const id = row.id as string;
      const rules = [...(entity.rules.read ?? []), ...(entity.rules.create ?? [])];
      const changes = revocations({ ...making, entity }, row, rules);
      // What the copy has is read before the change.
      const possible = changes.filter((one) => !("set" in one && one.id === id));
      const keys = keysOf(entity).filter((one) => typeof row[keyOf(one)] === "string");
      if (possible.length === 0 || keys.length === 0) return [];
      const key = random.pick(keys);
      const waitsFor = { entity: key.target, id: row[keyOf(key)] as string };
      const call: Call = { do: "clone", id };
      return [{ uid, by, on: entity.name, surface: "http", call, waitsFor, meanwhile: [random.pick(possible)] }];
    })
    .filter((step) => succeeds(making, step));
  return steps.length === 0 ? undefined : random.pick(steps);
}

/** A write whose caller loses rights while it runs. */
export function raceOf(making: Making, uid: string): Step | undefined {
  const { random, model, world, entity, by } = making;
  const access = random.chance(0.7) ? "update" : "delete";
  const rules = entity.rules[access] ?? [];
  const rows = rowsOf(world, entity.name).filter(
    (row) => isLive(entity, row) && passes(model, world, entity, row, rules, by, "stored"),
  );
  if (rows.length === 0) return undefined;
  const row = random.pick(rows);
  const possible = revocations(making, row, rules);
  if (possible.length === 0) return undefined;
  const meanwhile = [random.pick(possible)];
  const plain = entity.fields.filter(
    (one) => !one.unique && !one.password && one.writable === undefined && one.kind !== "datetime" && !one.readonly,
  );
  const data = Object.fromEntries(random.some(plain, 0.4).map((field) => [field.name, valueFrom(random, field)]));
  const call: Call =
    access === "update" ? { do: "update", id: row.id as string, data } : { do: "delete", id: row.id as string };
  return { uid, by, on: entity.name, call, ...matchOf(making, row, meanwhile) };
}

/** A write that waits for the lock of another row, one that it refers to, while its caller loses rights. */
export function waitOf(making: Making, uid: string): Step | undefined {
  const { random, model, world, entity, by } = making;
  const creates = random.chance(0.4) && rowsOf(world, entity.name).length < 12;
  const id = someId(making, entity.name);
  const isNested = random.chance(0.5);
  const given = isNested ? nestedInput(making, creates, creates ? undefined : id) : inputOf(making, creates);
  const isPlain = (name: string): boolean =>
    !entity.fields.some((one) => one.name === name && (one.unique || one.writable !== undefined));
  const data = Object.fromEntries(Object.entries(given).filter(([name]) => isPlain(name)));
  const named = model.entities.flatMap(({ name }) =>
    idsOf(world, name)
      .filter((one) => one !== id && JSON.stringify(data).includes(`"${one}"`))
      .map((one) => ({ entity: name, id: one })),
  );
  if (named.length === 0) return undefined;
  const call: Call = creates ? { do: "create", data } : { do: "update", id, data };
  const step: Step = { uid, by, on: entity.name, surface: "http", call, waitsFor: random.pick(named) };
  const own = creates ? { ...(data as Row), id: "new" } : rowOf(world, entity.name, id);
  const all = [
    ...(own === undefined ? [] : revocations(making, own, entity.rules[call.do] ?? [])),
    ...named.flatMap((one) => {
      const there = entityOf(model, one.entity);
      const rules = [...(there.rules.update ?? []), ...(there.rules.read ?? [])];
      return revocations({ ...making, entity: there }, rowOf(world, one.entity, one.id) as Row, rules);
    }),
  ];
  // A pair that is sent again and removed at the same time may stay or go.
  const pairKeys = model.entities.flatMap((one) =>
    one.relations.filter(({ kind }) => kind === "manyToMany").flatMap(({ name }) => [`"${name}":`, `"${name}Ids":`]),
  );
  const writesPairs = pairKeys.some((key) => JSON.stringify(data).includes(key));
  const ends = [id, ...named.map((one) => one.id)];
  const isWritten = (pair: string): boolean => writesPairs && pair.split("|").some((end) => ends.includes(end));
  const possible = all.filter((one) => !("unpair" in one && isWritten(one.pair)));
  if (possible.length === 0 || !succeeds(making, step)) return undefined;
  const meanwhile = [random.pick(possible)];
  // Whether a related record may be named in an operation is decided once; operations decide their own rights again.
  const changed = afterMeanwhile(model, world, meanwhile);
  const sees = (at: World, one: { entity: string; id: string }): boolean => {
    const there = entityOf(model, one.entity);
    const row = rowOf(at, one.entity, one.id);
    return row !== undefined && passes(model, at, there, row, there.rules.read, by, "stored");
  };
  const hides = named.some((one) => sees(world, one) !== sees(changed, one));
  // After a deadlock the whole write runs again, and its new records get other ids.
  const owners = keysOf(entity).map((relation) => own?.[keyOf(relation)]);
  const locked = [id, ...owners, ...named.map((one) => one.id)].filter((one) => one !== step.waitsFor?.id);
  const meets = meanwhile.some((one) => "set" in one && locked.includes(one.id));
  return isNested && (hides || meets) ? undefined : { ...step, meanwhile };
}

/** A request repeated by the same user, who now has other rights. */
export function replayOf(making: Making, uid: string): Step | undefined {
  const { random, entity, by } = making;
  if (by === null) return undefined;
  const include = pathsOf(making, entity, 2);
  const also = include.length > 0 ? { include } : {};
  const call: Call = random.chance(0.4)
    ? { do: "create", data: inputOf(making, true), ...also }
    : { do: "update", id: someId(making, entity.name), data: inputOf(making, false), ...also };
  const again: Caller = {
    id: by.id,
    team: random.pick(TEXTS),
    ...(random.chance(0.3) && { role: "admin" }),
  };
  const row = call.do === "update" ? rowsOf(making.world, entity.name).find(({ id }) => id === call.id) : undefined;
  const changes = row === undefined ? [] : revocations(making, row, entity.rules.read ?? []);
  const meanwhile = changes.length > 0 && random.chance(0.5) ? { meanwhile: [random.pick(changes)] } : {};
  return { uid, by, on: entity.name, surface: "http", call, again, ...meanwhile };
}
