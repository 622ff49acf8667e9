/** The effects and responses of writes. */
import type { Call, FieldModel, Input, RelationModel, Row, Scalar } from "../model.ts";
import { entityOf, keyOf, keysOf, withComputed, withoutComputed } from "../model.ts";
import { includes, shownWith, treeOf } from "./includes.ts";
import {
  changedPairs,
  collides,
  fits,
  hashed,
  isCoherent,
  isSound,
  type Links,
  ownerKey,
  type Read,
  readInput,
} from "./input.ts";
import { CONFLICT, INVALID, missing, type Outcome, refused, refusedOne, type Setting } from "./outcome.ts";
import { allowed, passes, reachOf } from "./rules.ts";
import { listed } from "./shown.ts";
import { isLive, isTangled, rowOf, type World, withoutRow, withPairs, withRow } from "./world.ts";

type Of<D extends Call["do"]> = Extract<Call, { do: D }>;

/** The response of a write: a caller that may not read the record gets only its id. */
export function answer(
  setting: Setting,
  world: World,
  id: string,
  status: number,
  include?: readonly string[],
): Outcome {
  const { model, entity, by } = setting;
  const row = rowOf(world, entity.name, id) as Row;
  const view = { model, world, by };
  const mayRead = passes(model, world, entity, row, entity.rules.read, by, "stored");
  return { status, world, body: mayRead ? shownWith(view, entity, row, treeOf(include)) : { id } };
}

/** Stored forms of the submitted values. */
function stored(fields: readonly FieldModel[], values: { readonly [name: string]: Scalar }): Row {
  const password = (name: string): boolean => fields.some((one) => one.name === name && one.password);
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, password(name) ? hashed(value) : value]),
  );
}

/** Adds the links of nested writes. Of one relation, the complete list comes first, then removals, then additions. */
function withLinks(setting: Setting, read: Read, more: readonly Links[]): Read {
  const all = [...read.links, ...more];
  const links = [...new Set(all.map(([relation]) => relation))].flatMap((relation): Links[] => {
    const lists = all.filter(([one, , mode]) => one === relation && mode === "set");
    const ids = (mode: Links[2]) =>
      all.filter((one) => one[0] === relation && one[2] === mode).flatMap((one) => one[1]);
    const added = [...new Set(ids("add"))];
    const removed = ids("remove").filter((id) => !added.includes(id));
    if (lists.length === 0)
      return [...(added.length > 0 ? [[relation, added, "add"] as const] : []), [relation, removed, "remove"]];
    return [[relation, [...new Set([...ids("set").filter((id) => !removed.includes(id)), ...added])], "set"]];
  });
  const lists = all.filter(([, , mode]) => mode === "set").map(([relation]) => relation);
  const isNamed = ([relation, some, mode]: Links): boolean =>
    mode === "remove" || some.every((id) => isListed(setting, relation, id));
  return { ...read, links, isValid: read.isValid && new Set(lists).size === lists.length && all.every(isNamed) };
}

/** Whether a record that is named exists in the caller's lists. */
function isListed(setting: Setting, { target: name }: RelationModel, id: string, world = setting.world): boolean {
  const target = entityOf(setting.model, name);
  const row = rowOf(world, name, id);
  return row !== undefined && listed(setting, target, row);
}

/** Adds and removes pairs; a pair belongs to both sides, so the target's rules apply too if its entity has the relation. */
function linked(setting: Setting, world: World, id: string, links: Read["links"]): World | "invalid" | "refused" {
  const { model, by } = setting;
  let next = world;
  let verdict: "invalid" | "refused" | undefined;
  for (const link of links) {
    const [relation, ids, mode] = link;
    const target = entityOf(model, relation.target);
    const { at, added, removed, pair } = changedPairs(setting, id, link);
    if (mode !== "remove" && !ids.every((one) => isListed(setting, relation, one, world))) verdict = "invalid";
    if (relation.inverse !== undefined)
      for (const one of [...added, ...removed]) {
        const row = rowOf(setting.world, target.name, one);
        if (row !== undefined && !allowed(model, setting.world, target, row, "update", by)) verdict ??= "refused";
      }
    const pairs = new Set(next.pairs.get(at));
    for (const one of removed) pairs.delete(pair(one));
    for (const one of added) pairs.add(pair(one));
    next = withPairs(next, at, pairs);
  }
  return verdict ?? next;
}

/**
 * A create. The rules are evaluated on the database without the new record, before anything is stored: a refused caller
 * learns nothing about unique values. If the input is invalid as well, either error may be reported first.
 */
export function create(
  setting: Setting,
  data: Input,
  id: string,
  include?: readonly string[],
  more: readonly Links[] = [],
): Outcome[] {
  const { model, world, entity, by } = setting;
  const reach = reachOf(entity, entity.rules.create, by, "create");
  if (reach === "none") return [refused(by)];
  const read = withLinks(setting, readInput(setting, data, true), more);
  const wrong: Outcome[] = [];
  if (!read.isValid || !includes(setting, entity, treeOf(include))) wrong.push(INVALID);
  const key = ownerKey(entity);
  const values: Record<string, Scalar> = { ...read.values };
  const isAdmin = by?.role === "admin";
  if (key !== undefined && !(key in values) && by !== null) values[key] = by.id;
  else if (key !== undefined && key in values && !isAdmin && values[key] !== (by?.id ?? null))
    return [refused(by), ...wrong];
  const complete = (given: { readonly [name: string]: Scalar }): Row => {
    const row: Record<string, Scalar> = { id };
    for (const field of entity.fields)
      row[field.name] = field.name in given ? (given[field.name] as Scalar) : (field.default ?? null);
    for (const relation of keysOf(entity)) row[keyOf(relation)] = given[keyOf(relation)] ?? null;
    return row;
  };
  // Field rules that depend on the record are evaluated on the record without those fields.
  const without = Object.fromEntries(
    Object.entries(values).filter(([name]) => !read.undecided.some((one) => one.name === name)),
  );
  for (const field of read.undecided)
    if (!passes(model, world, entity, complete(without), field.writable, by, "create")) delete values[field.name];
  const unsure = read.undecided.some((field) => !fits(field, read.values[field.name] ?? null)) ? [INVALID] : [];
  const plain = complete(values);
  if (
    !isSound(
      setting,
      plain,
      Object.keys(plain).filter((name) => name !== "id"),
    )
  )
    wrong.push(INVALID);
  if (wrong.length === 0 && !isCoherent(setting, plain)) wrong.push(INVALID);
  const row = withComputed(entity, { id, ...stored(entity.fields, plain) });
  const unstored = withoutComputed(entity, row); // the database has not computed anything yet
  const next = linked(setting, withRow(world, entity.name, row), id, read.links);
  if (next === "invalid") wrong.push(INVALID);
  const isRefused = reach === "some" && !passes(model, world, entity, unstored, entity.rules.create, by, "create");
  const ownerless = key !== undefined && lacksOwner(setting, row, key);
  if (isRefused) return [refused(by), ...wrong, ...unsure];
  const hidden = hiddenTargets(setting, read);
  if (next === "refused") return [refused(by), ...hidden, ...wrong, ...unsure];
  if (wrong.length > 0 || next === "invalid") return wrong;
  // The database detects that the caller has no record, and may detect the unique value first.
  if (ownerless) return collides(world, entity, row) ? [INVALID, CONFLICT] : [INVALID];
  if (collides(world, entity, row)) return [CONFLICT, ...unsure];
  return [answer(setting, next, id, 201, include), ...unsure];
}

/** A caller whose pairs are refused must not learn that a target exists, if its entity hides it. */
const hiddenTargets = ({ model }: Setting, { links }: Read): Outcome[] => [
  { status: 403 }, // never 401 for anonymous callers: the status for pairs is not specified
  ...(links.some(([{ target: name }]) => entityOf(model, name).hideForbidden) ? [{ status: 404 }] : []),
];

/** The record would leave the caller's reach. That gives 403; for anonymous callers, 401 is possible too. */
const lost = (by: Setting["by"]): Outcome[] => (by === null ? [{ status: 401 }, { status: 403 }] : [{ status: 403 }]);

/** Whether the owner of a record is not stored. */
function lacksOwner({ world, entity }: Setting, row: Row, key: string): boolean {
  const users = keysOf(entity).find((one) => keyOf(one) === key)?.target ?? "";
  return row[key] !== null && rowOf(world, users, row[key]) === undefined;
}

/** The record of a write, or its refusal. */
function target(setting: Setting, id: string, access: "update" | "delete", anyLife = false): Row | Outcome {
  const { model, world, entity, by } = setting;
  const reach = reachOf(entity, entity.rules[access], by, "stored");
  if (reach === "none") return refusedOne(setting);
  const row = rowOf(world, entity.name, id);
  if (row === undefined || !(anyLife || isLive(entity, row))) return missing(setting, reach);
  return allowed(model, world, entity, row, access, by) ? row : refusedOne(setting);
}
const isOutcome = (found: Row | Outcome): found is Outcome => "status" in found;

/** Updates one record that the caller may update. */
export function change(
  setting: Setting,
  row: Row,
  data: Input,
  include?: readonly string[],
  more: readonly Links[] = [],
): Outcome[] {
  const { model, world, entity, by } = setting;
  const id = row.id as string;
  const read = withLinks(setting, readInput(setting, data, false), more);
  const wrong: Outcome[] = [];
  if (!read.isValid || !includes(setting, entity, treeOf(include))) wrong.push(INVALID);
  if (data.id !== undefined && data.id !== id) wrong.push(INVALID);
  const values: Record<string, Scalar> = { ...read.values };
  for (const field of read.undecided)
    if (!passes(model, world, entity, row, field.writable, by, "stored")) delete values[field.name];
  const seesRecord = passes(model, world, entity, row, entity.rules.read, by, "stored");
  const key = ownerKey(entity);
  let isTaken = false;
  let unsure: Outcome[] = [];
  if (key !== undefined && key in values && by?.role !== "admin") {
    // Only the stored owner may be sent back, by a caller that could read it: otherwise callers could guess it.
    isTaken = values[key] !== (row[key] ?? null) || !seesRecord;
    delete values[key];
  }
  // A key that is sent back as the caller received it is not a change, even if its record is hidden.
  const sentBack = (name: string): boolean =>
    seesRecord && keysOf(entity).some((one) => keyOf(one) === name) && values[name] === row[name];
  const given = Object.keys(values).filter((name) => !sentBack(name));
  if (!isSound(setting, { ...row, ...values }, given)) wrong.push(INVALID);
  if (read.undecided.some((field) => !fits(field, read.values[field.name] ?? null))) unsure = [INVALID];
  const changed = withComputed(entity, { ...row, ...stored(entity.fields, values) });
  if (wrong.length === 0 && !isCoherent(setting, { ...row, ...values })) wrong.push(INVALID);
  const stands = withRow(world, entity.name, changed);
  const next = linked(setting, stands, id, read.links);
  if (next === "invalid") wrong.push(INVALID);
  // A list of ids replaces all pairs, so its response shows which pairs were stored.
  if (next === "refused" || (read.links.length > 0 && !seesRecord))
    return [refused(by), refusedOne(setting), ...hiddenTargets(setting, read), ...wrong];
  if (isTaken) return [refused(by), refusedOne(setting), ...wrong];
  if (wrong.length > 0 || next === "invalid") return wrong;
  const taken = collides(world, entity, changed) ? [CONFLICT] : [];
  // The database detects that the caller has no record, as for a new record.
  const ownerless = key !== undefined && lacksOwner(setting, changed, key);
  if (ownerless) unsure = [INVALID];
  // The changed record must satisfy the rule on the database before the change, which cannot justify itself, and after it.
  const still = (of: World): boolean => passes(model, of, entity, changed, entity.rules.update, by, "stored");
  if (!still(world) || !still(next)) return [...lost(by), ...taken, ...unsure];
  // Links are written after the record.
  const early = still(stands) ? [] : lost(by);
  if (ownerless) return [INVALID, ...taken, ...early];
  if (taken.length > 0) return [...taken, ...early, ...unsure];
  return [answer(setting, next, id, 200, include), ...early, ...unsure];
}

export function update(setting: Setting, { id, data, include }: Of<"update">, more: readonly Links[] = []): Outcome[] {
  const row = target(setting, id, "update");
  if (!isOutcome(row)) return change(setting, row, data, include, more);
  // The statement detects a record that is missing or out of reach, after the input itself was validated.
  const { entity, by } = setting;
  const isWrongAnyway =
    reachOf(entity, entity.rules.update, by, "stored") !== "none" && isWrong(setting, id, data, include);
  const also = isWrongAnyway ? [INVALID] : [];
  // The same applies to a submitted owner: an anonymous caller is refused for it first.
  const key = ownerKey(entity) ?? "";
  return [row, ...also, ...(by === null && key in data ? [refused(by)] : [])];
}

/** Whether a body is invalid for any record. */
export function isWrong(setting: Setting, id: string, data: Input, include?: readonly string[]): boolean {
  const { values, links, isValid } = readInput(setting, data, false);
  const names = Object.keys(values);
  return (
    !isValid ||
    (data.id !== undefined && data.id !== id) ||
    !includes(setting, setting.entity, treeOf(include)) ||
    names.some((name) => !isSound(setting, values, [name])) ||
    linked(setting, setting.world, id, links) === "invalid"
  );
}

export function remove(setting: Setting, { id }: Of<"delete">): Outcome[] {
  const row = target(setting, id, "delete");
  if (isOutcome(row)) return [row];
  const next = withoutRow(setting.model, setting.world, setting.entity.name, id);
  if (next === undefined) return [CONFLICT];
  const done: Outcome = { status: 200, body: { success: true, id }, world: next };
  return isTangled(setting.model, setting.world, next) ? [done, CONFLICT] : [done];
}

/** Sets a column as an action does, which callers cannot write; the record must still satisfy the rule. */
export function setState(setting: Setting, row: Row, column: string, value: Scalar, body: unknown): Outcome[] {
  const { model, world, entity, by } = setting;
  const changed: Row = { ...row, [column]: value };
  if (!isCoherent(setting, changed)) return [INVALID];
  const next = withRow(world, entity.name, changed);
  if (!passes(model, next, entity, changed, entity.rules.update, by, "stored")) return lost(by);
  // As for an update: a violation visible in the new value may be refused before the statement.
  const early = passes(model, world, entity, changed, entity.rules.update, by, "stored") ? [] : lost(by);
  return [collides(world, entity, changed) ? CONFLICT : { status: 200, body, world: next }, ...early];
}

export { isOutcome, target };
