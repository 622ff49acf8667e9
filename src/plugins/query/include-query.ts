import { type AnyEntity, isKeelsonError, type ResolvedRelation } from "../../entity/index.ts";
import {
  addPath,
  INCLUDED,
  type Included,
  type IncludeTree,
  includeTree,
  type OperationScope,
  seesRelation,
} from "../../gate/index.ts";
import { didYouMean, shownName } from "../../kernel/index.ts";
import {
  addProblem,
  items,
  type Named,
  type QueryTable,
  type Reading,
  readableTargets,
  type Subject,
  seenRelations,
  single,
} from "./query-table.ts";
import { readConditionsOf } from "./where-tree.ts";

type Tables = ReadonlyMap<AnyEntity, QueryTable>;

/** Whether an include is JSON, with options, instead of names. */
export function isJsonInclude({ controls, parameters }: Reading): boolean {
  return controls.has("include") && parameters.get("include")?.[0]?.startsWith("{") === true;
}

/** Reads `include=author,comments.author` (and `_embed`, its name in json-server) as a tree. */
export function readInclude(reading: Reading, scope: OperationScope, tables: Tables): IncludeTree | undefined {
  const paths = [...items(reading, "include"), ...items(reading, "_embed")];
  if (paths.length === 0) return undefined;
  const { includeDepth } = reading.limits;
  const root: IncludeTree = Object.create(null);
  for (const path of paths) {
    if (path.split(".").length > includeDepth)
      addProblem(reading, "include", `"include" goes at most ${includeDepth} levels deep.`);
    else addPath(root, path);
  }
  return checkTree(reading, scope, tables, root);
}

/** Reads `include={"comments":{"where":{"stars":{"gte":4}},"sort":"-createdAt","limit":3,"include":{"author":true}}}`. */
export async function readJsonInclude(
  reading: Reading,
  scope: OperationScope,
  tables: Tables,
): Promise<IncludeTree | undefined> {
  const root = parseTree(reading, single(reading, "include") ?? "{}");
  if (root === undefined) return undefined;
  checkTree(reading, scope, tables, root);
  if (reading.problems.length > 0) return undefined;
  return readArguments({ reading, scope, tables, count: { conditions: 0 } }, reading.table, root);
}

function parseTree(reading: Reading, text: string): IncludeTree | undefined {
  try {
    return includeTree(JSON.parse(text));
  } catch (error) {
    const message = isKeelsonError(error) ? error.message : '"include" must be JSON, or a list of relations';
    addProblem(reading, "include", `${message}.`);
    return undefined;
  }
}

/** Refuses unknown relations, too many relations and too many levels. */
function checkTree(reading: Reading, scope: OperationScope, tables: Tables, root: IncludeTree): IncludeTree {
  const { includes, includeDepth } = reading.limits;
  let count = 0;
  const check = (table: QueryTable | undefined, node: IncludeTree, level: number): void => {
    for (const [name, inner] of Object.entries(node)) {
      if (level > includeDepth) {
        addProblem(reading, "include", `"include" goes at most ${includeDepth} levels deep.`);
        return;
      }
      count++;
      const relation = table?.relations.get(name);
      if (relation === undefined || !seesRelation(scope, relation)) {
        const seen = seenRelations(table, scope).map((one) => one.name);
        addProblem(
          reading,
          "include",
          `There is no relation "${shownName(name)}" to include.${didYouMean(name, seen)}`,
        );
      } else check(tables.get(relation.target), inner, level + 1);
    }
  };
  check(reading.table, root, 1);
  if (count > includes) addProblem(reading, "include", `"include" takes at most ${includes} relations.`);
  return root;
}

interface Context {
  readonly reading: Reading;
  readonly scope: OperationScope;
  readonly tables: Tables;
  readonly count: { conditions: number };
}

async function readArguments(context: Context, table: QueryTable, node: IncludeTree): Promise<IncludeTree> {
  const read: { [relation: string]: IncludeTree; [INCLUDED]?: Included | undefined } = Object.create(null);
  for (const [name, inner] of Object.entries(node)) {
    const relation = table.relations.get(name) as ResolvedRelation;
    const target = context.tables.get(relation.target);
    const further = target === undefined ? inner : await readArguments(context, target, inner);
    const asked = inner[INCLUDED];
    read[name] = Object.assign(Object.create(null), further);
    if (asked !== undefined && target !== undefined)
      (read[name] as typeof read)[INCLUDED] = await readAsked(context, relation, target, asked);
  }
  return read;
}

/** Checks and reads the options of an include. */
async function readAsked(
  context: Context,
  relation: ResolvedRelation,
  table: QueryTable,
  asked: Included,
): Promise<Included> {
  const { reading, scope, tables, count } = context;
  const { name, many, remote, target } = relation;
  const problem = (sentence: string, suggestion = ""): void =>
    addProblem(reading, "include", `The include of "${name}" ${sentence}.${suggestion}`);
  if (remote !== undefined) problem("takes no options: its records come from another service");
  if (!many && (asked.limit !== undefined || asked.count || asked.sort !== undefined))
    problem("takes no limit, no order and no count: there is one record");
  const { includedRecords, conditions, sortKeys } = reading.limits;
  if ((asked.limit ?? 0) > includedRecords) problem(`has at most ${includedRecords} records`);
  if ((asked.sort?.length ?? 0) > sortKeys) problem(`takes at most ${sortKeys} fields to sort by`);
  const { allowed } = remote === undefined ? await scope.access.readDecision(target) : { allowed: false };
  const mask = scope.access.mask(target);
  // Records that the caller may not read have no known fields.
  const known = allowed ? mask : { ...mask, readable: NONE, filterable: NONE, sortable: NONE };
  for (const { field } of asked.sort ?? [])
    if (!known.sortable.has(field))
      problem(`has no field "${shownName(field)}" to sort by`, didYouMean(field, known.sortable));
  for (const field of asked.select ?? [])
    if (!known.readable.has(field))
      problem(`has no field "${shownName(field)}" to select`, didYouMean(field, known.readable));
  if (asked.where === undefined) return asked;
  const targets = allowed
    ? await readableTargets([asked.where as Named], table, scope, tables)
    : new Map<string, Subject>();
  const subject: Subject = { table, mask: known, targets };
  const where = readConditionsOf(reading, "include", subject, asked.where, () => {
    if (++count.conditions === conditions + 1) problem(`and others take at most ${conditions} conditions`);
  });
  return { ...asked, where };
}

const NONE: ReadonlySet<string> = new Set();
