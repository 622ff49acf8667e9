/** Related records in responses (http.md, “List queries”; guides/queries.md, “Related records”). */
import type { EntityModel, IncludeOptions, Includes, Json, RelationModel, Row } from "../model.ts";
import { entityOf, relationOf } from "../model.ts";
import { relatedTo } from "./conditions.ts";
import { reachOf } from "./rules.ts";
import { listed, shown, type View } from "./shown.ts";
import { isSelectable, isSortable, order } from "./sorting.ts";
import { treeTest } from "./trees.ts";

/** The options of an included relation. */
type Node = Omit<IncludeOptions, "include"> & { readonly include: Tree };
export type Tree = { readonly [relation: string]: Node };

export function treeOf(asked: readonly string[] | Includes | undefined): Tree {
  if (asked === undefined || isList(asked)) return treeOfPaths(asked ?? []);
  const nodes = Object.entries(asked).map(([name, options]): [string, Node] =>
    options === true ? [name, { include: {} }] : [name, { ...options, include: treeOf(options.include) }],
  );
  return Object.fromEntries(nodes);
}

const isList = (asked: readonly string[] | Includes): asked is readonly string[] => Array.isArray(asked);

function treeOfPaths(paths: readonly string[]): Tree {
  const firsts = [...new Set(paths.map((path) => path.split(".")[0] as string))];
  const after = (first: string): string[] =>
    paths.filter((path) => path.startsWith(`${first}.`)).map((path) => path.slice(first.length + 1));
  return Object.fromEntries(firsts.map((first) => [first, { include: treeOfPaths(after(first)) }]));
}

const isToOne = ({ kind }: RelationModel): boolean => kind !== "hasMany" && kind !== "manyToMany";

/** Whether each relation exists and accepts its options. */
export function includes(view: View, entity: EntityModel, tree: Tree): boolean {
  return isPlainlyRight(view, entity, tree) && suits(view, entity, tree);
}

/** Whether an include is valid for any caller: its relations exist, and to-one relations have no list options. */
export function isPlainlyRight(view: View, entity: EntityModel, tree: Tree): boolean {
  return Object.entries(tree).every(([name, { limit, sort, count, include }]) => {
    const relation = relationOf(entity, name);
    if (relation === undefined) return false;
    if (isToOne(relation) && (limit !== undefined || sort !== undefined || count)) return false;
    return isPlainlyRight(view, entityOf(view.model, relation.target), include);
  });
}

/** Whether the options name only fields that the caller may filter on, sort by and read. */
function suits(view: View, entity: EntityModel, tree: Tree): boolean {
  return Object.entries(tree).every(([name, node]) => {
    const target = entityOf(view.model, (relationOf(entity, name) as RelationModel).target);
    return suitsNode(view, target, node) && suits(view, target, node.include);
  });
}

function suitsNode(view: View, target: EntityModel, { where = {}, sort = [], select = [] }: Node): boolean {
  // Records that the caller may not read cannot be queried.
  if (reachOf(target, target.rules.read, view.by, "list") === "none")
    return sort.length + select.length === 0 && namesNothing(where);
  return (
    treeTest(view, target, where) !== undefined &&
    sort.every((key) => isSortable(target, key.replace(/^-/, ""), view.by)) &&
    select.every((name) => isSelectable(target, name, view.by))
  );
}

const namesNothing = (where: Json): boolean =>
  Object.entries(where as object).every(
    ([name, parts]) =>
      ["and", "or", "not"].includes(name) && [parts].flat().every((part) => namesNothing(part as Json)),
  );

/** A record as returned, with its included records. */
export function shownWith(
  view: View,
  entity: EntityModel,
  row: Row,
  tree: Tree,
  select?: readonly string[],
): Record<string, unknown> {
  const out = shown(view, entity, row, select);
  const counts: Record<string, number> = {};
  for (const [name, node] of Object.entries(tree)) {
    const relation = relationOf(entity, name) as RelationModel;
    const target = entityOf(view.model, relation.target);
    // Options that do not fit the relation find nothing if they are not refused.
    const test =
      node.where === undefined
        ? () => true
        : suitsNode(view, target, node)
          ? treeTest(view, target, node.where)
          : undefined;
    const found = relatedTo(view.model, view.world, entity, row, relation)
      .filter((other) => listed(view, target, other) && test?.(other) === true)
      .sort(order(view, target, node.sort ?? []));
    const some = found.slice(0, node.limit).map((other) => shownWith(view, target, other, node.include, node.select));
    out[name] = isToOne(relation) ? (some[0] ?? null) : some;
    if (node.count) counts[name] = found.length;
  }
  return Object.keys(counts).length > 0 ? { ...out, _count: counts } : out;
}
