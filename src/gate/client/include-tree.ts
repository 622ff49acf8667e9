import { isObject } from "../../entity/index.ts";
import { BadRequestError, didYouMean } from "../../kernel/index.ts";
import type { Where } from "../condition/condition.ts";
import { INCLUDED, type Included, type IncludeTree } from "../operation/operation.ts";
import type { SortKey } from "../statement/driver-port.ts";

/** Parses `"-createdAt"` into a sort key. */
export function sortKey(text: string): SortKey {
  return text.startsWith("-") ? { field: text.slice(1), direction: "desc" } : { field: text, direction: "asc" };
}

/** A tree under construction. It has no prototype, since paths are user input and may contain "__proto__". */
type Node = { [relation: string]: IncludeTree; [INCLUDED]?: Included };

/** The options of an include. */
export const INCLUDE_OPTIONS = ["where", "sort", "limit", "select", "include", "count"] as const;

/**
 * Converts `["author", "comments.author"]`, or
 * `{ comments: { where, sort, limit, select, count, include: { author: true } } }`, into a tree.
 * @throws BadRequestError for any other value
 */
export function includeTree(include: unknown): IncludeTree | undefined {
  if (include === undefined) return undefined;
  const root: Node = Object.create(null);
  if (Array.isArray(include)) for (const path of include) addPath(root, String(path));
  else if (isObject(include)) addObject(root, include, 1);
  else throw new BadRequestError("include takes a list of relations, or an object");
  return Object.keys(root).length === 0 ? undefined : root;
}

/** Adds a path of relations to a tree. */
export function addPath(root: IncludeTree, path: string): void {
  let node = root as Node;
  for (const name of path.split(".")) {
    node[name] ??= Object.create(null) as IncludeTree;
    node = node[name] as Node;
  }
}

/** Deeper trees are refused before recursive functions walk them. */
const MOST_LEVELS = 16;

function addObject(node: Node, include: Readonly<Record<string, unknown>>, level: number): void {
  if (level > MOST_LEVELS) throw new BadRequestError(`include is nested more than ${MOST_LEVELS} levels deep`);
  for (const [name, options] of Object.entries(include)) {
    if (options === false || options === undefined) continue;
    const inner: Node = Object.create(null);
    node[name] = inner;
    if (options === true) continue;
    if (!isObject(options)) throw new BadRequestError(`include of "${name}" takes true, or an object`);
    for (const option of Object.keys(options))
      if (!(INCLUDE_OPTIONS as readonly string[]).includes(option))
        throw new BadRequestError(
          `include of "${name}" has no option "${option}".${didYouMean(option, INCLUDE_OPTIONS)}`,
        );
    const asked = includedOf(name, options);
    if (Object.values(asked).some((value) => value !== undefined)) inner[INCLUDED] = asked;
    if (options.include !== undefined) {
      const further = includeTree(options.include);
      Object.assign(inner, further);
    }
  }
}

function includedOf(name: string, { where, sort, limit, select, count }: Readonly<Record<string, unknown>>): Included {
  const wrong = (option: string, takes: string): never => {
    throw new BadRequestError(`"${option}" of the include of "${name}" takes ${takes}`);
  };
  if (where !== undefined && !isObject(where)) wrong("where", "an object of conditions");
  if (limit !== undefined && !(Number.isInteger(limit) && (limit as number) >= 0)) wrong("limit", "a whole number");
  if (count !== undefined && typeof count !== "boolean") wrong("count", "true or false");
  const names = (option: string, value: unknown): readonly string[] | undefined => {
    const list = typeof value === "string" ? value.split(",") : value;
    if (list === undefined || (Array.isArray(list) && list.every((item) => typeof item === "string"))) return list;
    return wrong(option, "a list of fields");
  };
  return {
    where: where as Where | undefined,
    sort: names("sort", sort)?.map(sortKey),
    limit: limit as number | undefined,
    select: names("select", select),
    count: count === true ? true : undefined,
  };
}
