import type { AnyEntity, ResolvedRelation } from "../../../entity/index.ts";
import type { IncludeTree, OperationScope } from "../../../gate/index.ts";
import { didYouMean, shownName } from "../../../kernel/index.ts";
import type { QueryTable } from "./query-table.ts";
import { addProblem, items, type Reading } from "./reading.ts";

/** Finds the compiled names of an entity; undefined for entities of other services. */
export type TableOf = (entity: AnyEntity) => QueryTable | undefined;

/** Whether the caller may know who is related to whom: the key that says so must be theirs to filter on. */
export function seesRelation(scope: OperationScope, relation: ResolvedRelation): boolean {
  const { type, source, target, foreignKey, remote } = relation;
  if (foreignKey === undefined || (remote !== undefined && type !== "belongsTo")) return true;
  return scope.mask(type === "belongsTo" ? source : target).filterable.has(foreignKey);
}

/** Reads `include=author,comments.author` (and `_embed`, its name in json-server) as a tree. */
export function readInclude(reading: Reading, scope: OperationScope, tableOf: TableOf): IncludeTree | undefined {
  const paths = [...items(reading, "include"), ...items(reading, "_embed")];
  if (paths.length === 0) return undefined;
  const { includes, includeDepth } = reading.limits;
  const root = emptyNode();
  let count = 0;
  for (const path of paths) {
    const names = path.split(".");
    if (names.length > includeDepth) {
      addProblem(reading, "include", `"include" goes at most ${includeDepth} levels deep.`);
      continue;
    }
    let node = root;
    let table: QueryTable | undefined = reading.table;
    for (const name of names) {
      const relation = table?.relations.get(name);
      if (relation === undefined || !seesRelation(scope, relation)) {
        const hint = didYouMean(name, visibleNames(scope, table));
        addProblem(reading, "include", `There is no relation "${shownName(name)}" to include.${hint}`);
        break;
      }
      if (node[name] === undefined) {
        node[name] = emptyNode();
        count++;
      }
      node = node[name];
      table = tableOf(relation.target);
    }
  }
  if (count > includes) addProblem(reading, "include", `"include" takes at most ${includes} relations.`);
  return root;
}

interface Node {
  [relation: string]: Node;
}

/** Without a prototype, so that a relation may be called `toString`. */
function emptyNode(): Node {
  return Object.create(null) as Node;
}

function visibleNames(scope: OperationScope, table: QueryTable | undefined): readonly string[] {
  const relations = [...(table?.relations.values() ?? [])];
  return relations.filter((relation) => seesRelation(scope, relation)).map(({ name }) => name);
}

/** Reads `select=id,title`. */
export function readSelect(reading: Reading): readonly string[] | undefined {
  const names = items(reading, "select");
  if (names.length === 0) return undefined;
  const { readable } = reading.mask;
  for (const name of names)
    if (!readable.has(name))
      addProblem(reading, "select", `There is no field "${shownName(name)}" to select.${didYouMean(name, readable)}`);
  return [...new Set(names)];
}
