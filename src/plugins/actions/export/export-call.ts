import type { OperationQuery, Row, SortKey, Where } from "../../../gate/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import type { ActionContext } from "../action/action-context.ts";
import { createBatchReader } from "./create-batch-reader.ts";
import { MOST_RECORDS } from "./write-batches.ts";

/** What an export in the process may be asked for; the same words as in a list. */
export interface ExportOptions {
  readonly where?: Where | undefined;
  /** `["-createdAt", "title"]` @default by id */
  readonly sort?: readonly string[] | undefined;
  /** `id` is always there. @default all fields */
  readonly select?: readonly string[] | undefined;
  /** Records that are softly deleted: there too, or nothing but these. @default left out */
  readonly deleted?: "with" | "only" | undefined;
}

const OPTIONS: ReadonlySet<string> = new Set(["where", "sort", "select", "deleted"]);

/**
 * An export in the process gives all records in one array, however many there are: with `list` and `after` a program
 * reads them in portions.
 */
export async function exportCall({ scope, entity, rules, input }: ActionContext): Promise<readonly Row[]> {
  const read = createBatchReader(scope, { entity, rules, query: () => readOptions(input) });
  const all: Row[] = [];
  for (;;) {
    const { records, isLast } = await read(MOST_RECORDS);
    all.push(...records);
    if (isLast) return all;
  }
}

/** @throws BadRequestError for options that do not exist, and values that they do not take */
function readOptions(given: unknown): OperationQuery {
  if (given === undefined) return {};
  if (!isObject(given)) throw new BadRequestError("An export in the process takes an object of options");
  const unknown = Object.keys(given).find((name) => !OPTIONS.has(name));
  if (unknown !== undefined)
    throw new BadRequestError(`An export in the process takes ${[...OPTIONS].join(", ")}, and no "${unknown}"`);
  const { where, deleted } = given;
  if (where !== undefined && !isObject(where)) throw new BadRequestError('"where" must be an object of conditions');
  if (deleted !== undefined && deleted !== "with" && deleted !== "only")
    throw new BadRequestError('"deleted" takes the values with and only.');
  return { where, deleted, sort: names("sort", given)?.map(sortKey), select: names("select", given) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function names(option: "sort" | "select", given: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const list = given[option];
  if (list !== undefined && !(Array.isArray(list) && list.every((name) => typeof name === "string")))
    throw new BadRequestError(`"${option}" must be a list of names`);
  return list as readonly string[] | undefined;
}

function sortKey(text: string): SortKey {
  return text.startsWith("-") ? { field: text.slice(1), direction: "desc" } : { field: text, direction: "asc" };
}
