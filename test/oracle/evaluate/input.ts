/** The processing of a body (entities.md, “What happens to a value”; http.md, “Input”). */
import type { EntityModel, FieldModel, Input, RelationModel, Row, Scalar } from "../model.ts";
import { entityOf, keyOf, keysOf, ownerColumn, pairsOf } from "../model.ts";
import { holds } from "./conditions.ts";
import { DECIMAL, MOMENT } from "./filters.ts";
import type { Setting } from "./outcome.ts";
import { passes, reachOf } from "./rules.ts";
import { readableReach } from "./shown.ts";
import { isLive, rowOf, rowsOf, type World } from "./world.ts";

const IGNORED = ["id", "createdAt", "updatedAt", "version"];
/** A stored password: never the text itself. */
export const hashed = (value: Scalar): Scalar => (value === null ? null : `hash of ${String(value)}`);

/** Ids of a relation: the complete list, or ids to add and to remove. */
export type Links = readonly [RelationModel, readonly string[], "set" | "add" | "remove"];

/** A body in its parts. */
export interface Read {
  /** Columns that the caller sent and may write. */
  readonly values: { readonly [column: string]: Scalar };
  /** Lists of ids, by relation. */
  readonly links: readonly Links[];
  /** Names of fields that are written only if their rules pass. */
  readonly undecided: readonly FieldModel[];
  readonly isValid: boolean;
}

export function readInput({ entity, by }: Setting, input: Input, creates: boolean): Read {
  const values: Record<string, Scalar> = {};
  const links: Links[] = [];
  const undecided: FieldModel[] = [];
  let isValid = true;
  for (const [name, value] of Object.entries(input)) {
    if (IGNORED.includes(name)) continue;
    const field = entity.fields.find((one) => one.name === name);
    const key = keysOf(entity).find((one) => keyOf(one) === name);
    const link = entity.relations.find((one) => one.kind === "manyToMany" && `${one.name}Ids` === name);
    if (field !== undefined) {
      if (field.readonly && readableReach(entity, field, by) === "none") isValid = false;
      if (field.readonly || (entity.softDelete && name === "deletedAt")) continue;
      const reach =
        field.writable === undefined ? "all" : reachOf(entity, field.writable, by, creates ? "create" : "stored");
      // A field that the caller may neither read nor write, on any record, is an unknown name; a field that the caller may only
      // read is ignored.
      const everWrites = field.writable === undefined || reachOf(entity, field.writable, by, "stored") !== "none";
      if (reach === "none" && !everWrites && readableReach(entity, field, by) === "none") isValid = false;
      if (reach === "none") continue;
      if (reach === "some") undecided.push(field);
      values[name] = value as Scalar;
    } else if (key !== undefined) values[name] = value as Scalar;
    else if (link !== undefined && Array.isArray(value))
      links.push([link, [...new Set(value as readonly string[])], "set"]);
    else isValid = false;
  }
  return { values, links, undecided, isValid };
}

/** Whether a value is valid for its field. */
export function fits(field: FieldModel, value: Scalar): boolean {
  if (value === null) return field.optional === true;
  if (field.kind === "string") return typeof value === "string" && (!field.password || value.length >= 8);
  if (field.kind === "int") return Number.isInteger(value);
  if (field.kind === "decimal") return DECIMAL.test(String(value));
  if (field.kind === "datetime") return MOMENT.test(String(value));
  return typeof value === "boolean";
}

/** Whether all named columns have values of their kinds, and keys lead to records that the caller may read. */
export function isSound(setting: Setting, row: Row, names: readonly string[]): boolean {
  const { model, world, entity, by } = setting;
  return names.every((name) => {
    const value = row[name] ?? null;
    const field = entity.fields.find((one) => one.name === name);
    if (field !== undefined) return fits(field, value);
    const key = keysOf(entity).find((one) => keyOf(one) === name) as RelationModel;
    if (value === null) return key.optional === true;
    const target = entityOf(model, key.target);
    const found = rowOf(world, target.name, value);
    // The creator of a record owns it, even if they may not read their own record in the users' table.
    if (name === ownerKey(entity) && value === by?.id) return true;
    // References are checked like a list: a rule that has to read the record allows none of them.
    return (
      found !== undefined && isLive(target, found) && passes(model, world, target, found, target.rules.read, by, "list")
    );
  });
}

/** Whether the validators across fields pass; they receive the complete record. */
export const isCoherent = ({ model, world, entity }: Setting, row: Row): boolean =>
  entity.validators.every(({ holds: condition }) => holds(model, world, entity, row, condition, null));

/** Whether another record has one of these unique values; softly deleted records release theirs. */
export function collides(world: World, entity: EntityModel, row: Row): boolean {
  const unique = [
    ...entity.fields.filter((one) => one.unique).map(({ name }) => name),
    ...entity.relations.filter((one) => one.unique).map(keyOf),
  ];
  if (!isLive(entity, row)) return false;
  return rowsOf(world, entity.name).some(
    (other) =>
      other.id !== row.id &&
      isLive(entity, other) &&
      unique.some((name) => (row[name] ?? null) !== null && other[name] === row[name]),
  );
}

/** The owner's column if it is a key, which callers cannot change. */
export const ownerKey = (entity: EntityModel): string | undefined =>
  entity.ownedBy === "id" ? undefined : ownerColumn(entity);

/** The pairs that the submitted ids add and remove. */
export function changedPairs(
  setting: Setting,
  id: string,
  [relation, ids, mode]: Links,
): { at: string; added: string[]; removed: string[]; pair(target: string): string } {
  const { model, world, entity, by } = setting;
  const { at, flipped } = pairsOf(model, entity, relation);
  const target = entityOf(model, relation.target);
  const pair = (other: string): string => (flipped ? `${other}|${id}` : `${id}|${other}`);
  const current = [...(world.pairs.get(at) ?? [])].flatMap((one) => {
    const [a = "", b = ""] = one.split("|");
    return (flipped ? b : a) === id ? [flipped ? a : b] : [];
  });
  const sees = (other: string): boolean => {
    const row = rowOf(world, target.name, other);
    return row !== undefined && isLive(target, row) && passes(model, world, target, row, target.rules.read, by, "list");
  };
  return {
    at,
    added: mode === "remove" ? [] : ids.filter((one) => !current.includes(one)),
    // A write of links removes only links that the caller can see.
    removed: current.filter(
      (one) => (mode === "set" ? !ids.includes(one) : mode === "remove" && ids.includes(one)) && sees(one),
    ),
    pair,
  };
}
