/** What the prebuilt actions do (guides/actions.md). */
import type { Call, Input, Row, Scalar } from "../model.ts";
import { entityOf, keyOf, keysOf } from "../model.ts";
import { isCoherent, isSound, ownerKey, readInput } from "./input.ts";
import { CONFLICT, INVALID, missing, type Outcome, refused, refusedOne, type Setting, SOME_MOMENT } from "./outcome.ts";
import { allowed, passes, reachOf } from "./rules.ts";
import { listed, readableReach, shown, showsField } from "./shown.ts";
import { isLive, isTangled, rowOf, type World, withoutRow, withoutRows, withRow } from "./world.ts";
import { change, create, isOutcome, isWrong, setState, target } from "./writes.ts";

type Of<D extends Call["do"]> = Extract<Call, { do: D }>;
const SUCCESS = { success: true };

export function toggle(setting: Setting, { id }: Of<"toggle">): Outcome[] {
  return flagged(
    setting,
    id,
    "flag",
    (row) => row.flag !== true,
    (value) => ({ flag: value }),
  );
}

export function archive(setting: Setting, { do: kind, id }: Of<"archive" | "unarchive">): Outcome[] {
  return flagged(
    setting,
    id,
    "archived",
    () => kind === "archive",
    () => SUCCESS,
  );
}

/** An action is refused if a field rule forbids the caller to write its field, or to read the field it returns. */
function flagged(
  setting: Setting,
  id: string,
  column: string,
  next: (row: Row) => boolean,
  body: (value: boolean) => unknown,
): Outcome[] {
  const { model, world, entity, by } = setting;
  const row = target(setting, id, "update");
  const field = entity.fields.find(({ name }) => name === column);
  // A field that the caller may not write, or may not read if it is returned, gives 403, before or after the record is read.
  const shut: Outcome[] = [{ status: 403 }, refused(by), refusedOne(setting)];
  const isShut =
    field !== undefined &&
    ((field.writable && reachOf(entity, field.writable, by, "stored") === "none") ||
      (column === "flag" &&
        (readableReach(entity, field, by) === "none" || reachOf(entity, entity.rules.read, by, "stored") === "none")));
  if (isOutcome(row)) return isShut ? [row, ...shut] : [row];
  if (isShut || (field?.writable && !passes(model, world, entity, row, field.writable, by, "stored"))) return shut;
  const value = next(row);
  const outcomes = [
    ...setState(setting, row, column, value, body(value)),
    ...(isCoherent(setting, row) ? [] : [INVALID]), // as in `asItIs`
  ];
  if (column !== "flag" || outcomes[0]?.world === undefined) return outcomes;
  // A toggle returns the new value, so the caller also needs the right to read the record's field.
  const { world: after } = outcomes[0] as { world: World };
  const changed = rowOf(after, entity.name, id) as Row;
  const tells =
    passes(model, after, entity, changed, entity.rules.read, by, "stored") &&
    field !== undefined &&
    showsField({ model, world: after, by }, entity, field, changed);
  return tells ? outcomes : shut;
}

/** A deleted record out of reach is like a missing one, unless a rule has to read it. */
function notTold(setting: Setting, id: string): Outcome[] {
  const row = rowOf(setting.world, setting.entity.name, id);
  return row === undefined || isLive(setting.entity, row) ? [] : [missing(setting, "some")];
}

export function softDelete(setting: Setting, { id }: Of<"softDelete">): Outcome[] {
  const { entity, world } = setting;
  // Repeating the action succeeds, and keeps the first time.
  const row = target(setting, id, "delete", true);
  if (isOutcome(row)) return [row, ...notTold(setting, id)];
  if ((row.deletedAt ?? null) !== null) return asItIs(setting, row);
  if (!isCoherent(setting, row)) return [INVALID];
  return [{ status: 200, body: SUCCESS, world: withRow(world, entity.name, { ...row, deletedAt: SOME_MOMENT }) }];
}

/** Nothing to change. The documents do not say whether a record that became invalid outside the library is validated. */
const asItIs = (setting: Setting, row: Row): Outcome[] => [
  { status: 200, body: SUCCESS },
  ...(isCoherent(setting, row) ? [] : [INVALID]),
];

export function restore(setting: Setting, { id }: Of<"restore">): Outcome[] {
  const row = target(setting, id, "update", true);
  if (isOutcome(row)) return [row, ...notTold(setting, id)];
  if ((row.deletedAt ?? null) === null) return asItIs(setting, row);
  return setState(setting, row, "deletedAt", null, SUCCESS);
}

export function clone(setting: Setting, { id }: Of<"clone">, newId: string): Outcome[] {
  const { model, world, entity, by } = setting;
  const may = reachOf(entity, entity.rules.create, by, "create");
  const reach = reachOf(entity, entity.rules.read, by, "stored");
  const also = may === "none" ? [refused(by), refusedOne(setting)] : [];
  if (reach === "none") return [refusedOne(setting), ...also];
  const row = rowOf(world, entity.name, id);
  if (row === undefined || !isLive(entity, row)) return [missing(setting, reach), ...also];
  if (!passes(model, world, entity, row, entity.rules.read, by, "stored")) return [refusedOne(setting), ...also];
  if (also.length > 0) return also;
  const seen = shown(setting, entity, row) as Record<string, Scalar>;
  const copy: Record<string, Scalar> = {};
  for (const field of entity.fields)
    if (!field.readonly && field.name !== "deletedAt" && field.name in seen)
      copy[field.name] = seen[field.name] as Scalar;
  for (const relation of keysOf(entity))
    if (keyOf(relation) !== ownerKey(entity)) {
      // An optional reference that the caller may not follow is not copied.
      const other = entityOf(model, relation.target);
      const related = rowOf(world, other.name, seen[keyOf(relation)]);
      const follows = related !== undefined && listed(setting, other, related);
      if (follows || !relation.optional) copy[keyOf(relation)] = seen[keyOf(relation)] as Scalar;
    }
  return create(setting, copy, newId);
}

/** One after the other, in one transaction. Records that are missing or out of reach are skipped. */
export function bulkUpdate(setting: Setting, { ids, data }: Of<"bulkUpdate">): Outcome[] {
  const { entity, by } = setting;
  if (reachOf(entity, entity.rules.update, by, "stored") === "none") return [refused(by)];
  const read = readInput(setting, data, false);
  if (Object.keys(data).length === 0) return [INVALID];
  if (!read.isValid || entity.fields.some((one) => one.password && one.name in data)) return [INVALID];
  const wrong: Outcome[] = isWrong(setting, "", data) ? [INVALID] : [];
  const outcomes = [...wrong, ...changedEach(setting, ids, data)];
  const key = ownerKey(setting.entity);
  if (key === undefined || !(key in data) || by?.role === "admin") return outcomes;
  // A submitted owner limits the request to the records known to have that owner; the others are skipped.
  const { [key]: owner, ...others } = data;
  const known = ids.filter((id) => {
    const row = rowOf(setting.world, entity.name, id);
    return row?.[key] === owner && row !== undefined && allowed(setting.model, setting.world, entity, row, "read", by);
  });
  return [...outcomes, ...changedEach(setting, known, others)];
}

function changedEach(setting: Setting, ids: readonly string[], data: Input): Outcome[] {
  return inBothOrders(ids, (order) => {
    let { world } = setting;
    let count = 0;
    const early: Outcome[] = [];
    for (const id of order) {
      const row = reachable({ ...setting, world }, id, "update");
      if (row === undefined) {
        // The references are checked first, against the database after the changes so far.
        if (!leadsOn({ ...setting, world }, data)) early.push(INVALID);
        continue;
      }
      const outcomes = change({ ...setting, world }, row, data);
      const done = outcomes.find((one) => one.world !== undefined);
      const failures = outcomes.filter((one) => one.world === undefined);
      early.push(...failures.map(({ status }) => ({ status: status === 404 ? 403 : status })));
      if (done === undefined) return early;
      // After the caller's field rules are applied, the data may be empty.
      if (writes({ ...setting, world }, row, data)) count += 1;
      world = done.world as World;
    }
    return [{ status: 200, body: { count }, world }, ...early];
  });
}

/** Whether the given keys lead to records that the caller may read. */
function leadsOn(setting: Setting, data: Input): boolean {
  const names = keysOf(setting.entity).map(keyOf);
  const given = readInput(setting, data, false).values;
  return isSound(
    setting,
    given,
    names.filter((name) => name in given),
  );
}

/** Whether an update has something to store. */
function writes(setting: Setting, row: Row, data: Input): boolean {
  const { values, links, undecided } = readInput(setting, data, false);
  const { model, world, entity, by } = setting;
  const dropped = undecided.filter((field) => !passes(model, world, entity, row, field.writable, by, "stored"));
  // A key sent back unchanged, whose record the caller cannot read, is a condition and not a change.
  const isSentBack = (name: string): boolean => values[name] === row[name] && !isSound(setting, row, [name]);
  const isOwners = (name: string): boolean => name === ownerKey(entity) && by?.role !== "admin";
  const left = Object.keys(values).filter(
    (name) => !isOwners(name) && !isSentBack(name) && !dropped.some((one) => one.name === name),
  );
  return left.length > 0 || links.length > 0;
}

export function bulkDelete(setting: Setting, { ids }: Of<"bulkDelete">): Outcome[] {
  const { entity, by, model } = setting;
  if (reachOf(entity, entity.rules.delete, by, "stored") === "none") return [refused(by)];
  const chosen = [...new Set(ids)].filter((id) => reachable(setting, id, "delete") !== undefined);
  const one = inBothOrders(ids, (order) => {
    let { world } = setting;
    let count = 0;
    for (const id of order) {
      if (reachable({ ...setting, world }, id, "delete") === undefined) continue;
      const next = withoutRow(model, world, entity.name, id);
      if (next === undefined) return [CONFLICT];
      world = next;
      count += 1;
    }
    return [{ status: 200, body: { count }, world }];
  });
  // One statement for all of them deletes rows that refer to each other together.
  const together = withoutRows(model, setting.world, entity.name, chosen);
  const all = together === undefined ? one : [...one, { status: 200, body: { count: chosen.length }, world: together }];
  const tangled = all.some(({ world: after }) => after !== undefined && isTangled(model, setting.world, after));
  return tangled ? [...all, CONFLICT] : all;
}

function reachable({ model, world, entity, by }: Setting, id: string, access: "update" | "delete"): Row | undefined {
  const row = rowOf(world, entity.name, id);
  return row !== undefined && isLive(entity, row) && allowed(model, world, entity, row, access, by) ? row : undefined;
}

/** The order in which several records are changed is not specified. */
function inBothOrders(ids: readonly string[], run: (order: readonly string[]) => Outcome[]): Outcome[] {
  const distinct = [...new Set(ids)];
  return distinct.length < 2 ? run(distinct) : [...run(distinct), ...run([...distinct].sort())];
}

/** Each row as in a create; refused rows are reported, and the others stored. */
export function imported(setting: Setting, { rows }: Of<"import">, nextId: (index: number) => string): Outcome[] {
  const { entity, by } = setting;
  if (reachOf(entity, entity.rules.create, by, "create") === "none") return [refused(by)];
  let { world } = setting;
  const failed: number[] = [];
  rows.forEach((data: Input, index) => {
    const done = create({ ...setting, world }, data, nextId(index)).find((one) => one.world !== undefined);
    if (done?.world === undefined) failed.push(index + 1);
    else world = done.world;
  });
  return [{ status: 200, body: { created: rows.length - failed.length, updated: 0, failed }, world }];
}
