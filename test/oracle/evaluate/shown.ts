/** What of a record a caller sees (field-security.md), with the records that it includes (http.md). */
import type { EntityModel, FieldModel, Model, Principal, RelationModel, Row } from "../model.ts";
import { entityOf, keyOf, keysOf, relationOf } from "../model.ts";
import { relatedTo } from "./conditions.ts";
import { needsCode, passes, type Reach, reachOf } from "./rules.ts";
import { isLive, type World } from "./world.ts";

/** Whose records are shown to whom. */
export interface View {
  readonly model: Model;
  readonly world: World;
  readonly by: Principal;
}

/** Whether the caller sees a field: of all records, of none, or of some. */
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

/** Whether conditions on a field can be asked: when code decides what shows it, they cannot. */
export const filterable = (entity: EntityModel, field: FieldModel, by: Principal): boolean =>
  readableReach(entity, field, by) !== "none" && field.encrypted !== "plain" && !needsCode(field.readable, entity, by);

/** Whether a list of the caller has this record in it. */
export const listed = ({ model, world, by }: View, entity: EntityModel, row: Row): boolean =>
  isLive(entity, row) && passes(model, world, entity, row, entity.rules.read, by, "list");

export type Tree = { readonly [relation: string]: Tree };

export function treeOf(paths: readonly string[] | undefined): Tree {
  const root: Record<string, Tree> = {};
  for (const path of paths ?? []) {
    let node = root;
    for (const name of path.split(".")) node = (node[name] ??= {}) as Record<string, Tree>;
  }
  return root;
}

/** Whether each relation of an `include` exists. */
export function includes(model: Model, entity: EntityModel, tree: Tree): boolean {
  return Object.entries(tree).every(([name, inner]) => {
    const relation = relationOf(entity, name);
    return relation !== undefined && includes(model, entityOf(model, relation.target), inner);
  });
}

const isToOne = ({ kind }: RelationModel): boolean => kind !== "hasMany" && kind !== "manyToMany";

/** A record as it is answered. */
export function shown(
  view: View,
  entity: EntityModel,
  row: Row,
  tree: Tree = {},
  select?: readonly string[],
): Record<string, unknown> {
  const out: Record<string, unknown> = { id: row.id };
  const wanted = (name: string): boolean => select === undefined || select.includes(name);
  for (const field of entity.fields)
    if (wanted(field.name) && showsField(view, entity, field, row)) out[field.name] = row[field.name] ?? null;
  for (const relation of keysOf(entity)) {
    const key = keyOf(relation);
    if (wanted(key)) out[key] = row[key] ?? null;
  }
  for (const [name, inner] of Object.entries(tree)) {
    const relation = relationOf(entity, name) as RelationModel;
    const target = entityOf(view.model, relation.target);
    const found = relatedTo(view.model, view.world, entity, row, relation)
      .filter((other) => listed(view, target, other))
      .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
      .map((other) => shown(view, target, other, inner));
    out[name] = isToOne(relation) ? (found[0] ?? null) : found;
  }
  return out;
}
