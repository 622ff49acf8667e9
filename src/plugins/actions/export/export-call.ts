import { BadRequestError, type OperationQuery, type Row, type SortKey, type Where } from "../../../kernel/index.ts";
import type { ActionContext } from "../action-context.ts";
import { createBatchReader } from "./create-batch-reader.ts";
import { MOST_RECORDS } from "./write-batches.ts";

/** What an export in the process may be asked for; the same words as in a list. */
export interface ExportOptions {
  readonly where?: Where | undefined;
  /** `["-createdAt", "title"]` @default by id */
  readonly sort?: readonly string[] | undefined;
  /** `id` is always there. @default all fields */
  readonly select?: readonly string[] | undefined;
}

const OPTIONS: ReadonlySet<string> = new Set(["where", "sort", "select"]);

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

/** @throws BadRequestError for options that do not exist */
function readOptions(given: unknown): OperationQuery {
  if (given === undefined) return {};
  const unknown = Object.keys(given as object).find((name) => !OPTIONS.has(name));
  if (unknown !== undefined)
    throw new BadRequestError(`An export in the process takes ${[...OPTIONS].join(", ")}, and no "${unknown}"`);
  const { where, sort, select } = given as ExportOptions;
  return { where, sort: sort?.map(sortKey), select };
}

function sortKey(text: string): SortKey {
  return text.startsWith("-") ? { field: text.slice(1), direction: "desc" } : { field: text, direction: "asc" };
}
