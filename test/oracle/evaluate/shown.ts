/** What a caller sees of a record (field-security.md). */
import type { EntityModel, FieldModel, Model, Principal, Row } from "../model.ts";
import { keyOf, keysOf } from "../model.ts";
import { needsCode, passes, type Reach, reachOf } from "./rules.ts";
import { isLive, type World } from "./world.ts";

/** Which records are shown to which caller. */
export interface View {
  readonly model: Model;
  readonly world: World;
  readonly by: Principal;
  /** Through an in-process client, which checks the options of an include only when there are records to include. */
  readonly inProcess?: true;
  /** How the query reached a condition on related records. @default it is about the records themselves */
  readonly way?: { readonly isShared: boolean; readonly turns: number };
}

/** Whether the caller sees a field: of all records, of no record, or of some. */
export function readableReach(entity: EntityModel, field: FieldModel, by: Principal): Reach {
  if (field.password || field.omit) return "none";
  return field.readable === undefined ? "all" : reachOf(entity, field.readable, by, "stored");
}

/** Whether the caller sees a field of this record. */
export function showsField(view: View, entity: EntityModel, field: FieldModel, row: Row): boolean {
  const reach = readableReach(entity, field, view.by);
  if (reach !== "some") return reach === "all";
  return passes(view.model, view.world, entity, row, field.readable, view.by, "stored");
}

/** Whether a field can be used in conditions: not if code decides who sees it. */
export const filterable = (entity: EntityModel, field: FieldModel, by: Principal): boolean =>
  readableReach(entity, field, by) !== "none" && field.encrypted !== "plain" && !needsCode(field.readable, entity, by);

/** Whether a record is identified by a field's value, which is unique. */
export function isKeyOf(entity: EntityModel, name: string, by: Principal): boolean {
  const field = entity.fields.find((one) => one.name === name);
  return (field?.unique && filterable(entity, field, by) && readableReach(entity, field, by) === "all") === true;
}

/** Whether a list of the caller contains this record. */
export const listed = ({ model, world, by }: View, entity: EntityModel, row: Row): boolean =>
  isLive(entity, row) && passes(model, world, entity, row, entity.rules.read, by, "list");

/** A record as returned, without related records. */
export function shown(view: View, entity: EntityModel, row: Row, select?: readonly string[]): Record<string, unknown> {
  const out: Record<string, unknown> = { id: row.id };
  const wanted = (name: string): boolean => select === undefined || select.includes(name);
  for (const field of entity.fields)
    if (wanted(field.name) && showsField(view, entity, field, row)) out[field.name] = row[field.name] ?? null;
  for (const key of keysOf(entity).map(keyOf)) if (wanted(key)) out[key] = row[key] ?? null;
  return out;
}
