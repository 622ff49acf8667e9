import type { OperationQuery } from "../../gate/index.ts";
import { addProblem, type Reading, single } from "./query-table.ts";

const WHOLE = /^(?:0|[1-9]\d{0,8})$/;

/**
 * Reads the page: `_page` and `_limit`, `_start` and `_end` (or `_limit`), or `_after` and `_limit`. Sizes above the
 * limit are refused instead of reduced: a client that counts with its own page size would silently skip records.
 * @param ids the number of ids in the conditions; without a page, all of these records are returned
 */
export function readPage(
  reading: Reading,
  ids: number | undefined,
): Pick<OperationQuery, "limit" | "offset" | "after" | "total"> {
  const { pageSize, maxPageSize, maxOffset } = reading.limits;
  const after = single(reading, "_after");
  const page = whole(reading, "_page", 1);
  const start = whole(reading, "_start", 0);
  const end = whole(reading, "_end", (start ?? 0) + 1);
  const size = whole(reading, "_limit", 1);
  const ways = Object.entries({ _after: after, _page: page, _start: start ?? end });
  const [first, ...others] = ways.flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (first !== undefined && others.length > 0)
    addProblem(reading, first, `${[first, ...others].map((name) => `"${name}"`).join(" and ")} cannot be combined.`);
  if (end !== undefined && size !== undefined) addProblem(reading, "_end", '"_end" and "_limit" cannot be combined.');

  const picked = page === undefined && start === undefined && after === undefined ? ids : undefined;
  const limit = (end !== undefined ? end - (start ?? 0) : size) ?? Math.max(picked ?? pageSize, 1);
  const offset = page === undefined ? (start ?? 0) : (page - 1) * limit;
  if (limit > maxPageSize)
    addProblem(reading, "_limit", `A page has at most ${maxPageSize} records; ask for more with "_after".`);
  if (offset > maxOffset)
    addProblem(
      reading,
      "_page",
      `At most ${maxOffset} records can be skipped; go on with "_after" and the X-Next-Cursor of the page before.`,
    );
  return {
    limit,
    // An offset, even 0, prevents a page from being cut short by bytes: counted pages and picked ids must be complete.
    ...(page !== undefined || start !== undefined || end !== undefined || picked !== undefined ? { offset } : {}),
    ...(after === undefined ? {} : { after }),
    total: readTotal(reading),
  };
}

function whole(reading: Reading, name: string, least: number): number | undefined {
  const text = single(reading, name);
  if (text === undefined) return undefined;
  const value = WHOLE.test(text) ? Number(text) : Number.NaN;
  if (value >= least) return value;
  addProblem(reading, name, `"${name}" must be a whole number from ${least}.`);
  return undefined;
}

function readTotal(reading: Reading): OperationQuery["total"] {
  const total = single(reading, "_total") ?? "exact";
  if (total === "estimated") return total;
  if (total !== "none" && total !== "exact")
    addProblem(reading, "_total", '"_total" takes the values exact, estimated and none.');
  return total !== "none";
}
