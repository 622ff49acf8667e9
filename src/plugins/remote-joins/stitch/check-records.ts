import type { Row } from "../../../gate/index.ts";
import { RemoteFailure } from "./failures.ts";
import type { FetchPlan } from "./fetch-plan.ts";
import { type Budget, REFUSED } from "./read-value.ts";

/** The result for one id: a record of plain values, null without a record, or the failure. */
export type Answer = Row | null | RemoteFailure;

/**
 * The most items of a response. Services that ignore ids and return all their records are tolerated up to this limit.
 */
const MAX_ITEMS = 100_000;
/** The size that a record counts for in addition to its values, so that lists of empty records are limited, too. */
const RECORD_BYTES = 8;

const NO_LIST = "The service did not answer with a list";
const TOO_LONG = `The service answered with more than ${MAX_ITEMS} records`;
const NO_RECORD = "The service answered with a record that is too large, or not what its entity says";

/**
 * Turns a service's response into one result per id, in the order of the ids. The response is untrusted: values are
 * copied and must have the declared types. Fields and records that were not requested are dropped. Of several records
 * with the same id, the first counts.
 * @param ids distinct
 * @param maxBytes the most bytes of one record, with its nested records
 * @throws RemoteFailure unless it is a list of acceptable length
 */
export function checkRecords(returned: unknown, ids: readonly string[], plan: FetchPlan, maxBytes: number): Answer[] {
  if (!Array.isArray(returned)) throw new RemoteFailure("invalid", NO_LIST);
  const { length } = returned;
  if (length > MAX_ITEMS) throw new RemoteFailure("invalid", TOO_LONG);
  const wanted = new Map<string, number>();
  for (let i = 0; i < ids.length; i++) wanted.set(ids[i] as string, i);
  const answers = new Array<Answer>(ids.length).fill(null);
  for (let i = 0; i < length && wanted.size > 0; i++) {
    const item = itemOf(returned, i);
    if (item === undefined) continue;
    const id = idOf(item);
    const index = id === undefined ? undefined : wanted.get(id);
    if (id === undefined || index === undefined) continue;
    wanted.delete(id);
    answers[index] = readRecord(item, plan, { left: maxBytes });
  }
  return answers;
}

/** An object of the list; undefined for other items, and when a getter throws. */
function itemOf(list: readonly unknown[], index: number): object | undefined {
  try {
    const item = list[index];
    return typeof item === "object" && item !== null ? item : undefined;
  } catch {
    return undefined;
  }
}

/** The id of an item. It must be the object's own property: an inherited one does not count. */
function idOf(item: object): string | undefined {
  try {
    if (!Object.hasOwn(item, "id")) return undefined;
    const { id } = item as { readonly id: unknown };
    return typeof id === "string" ? id : typeof id === "number" && Number.isFinite(id) ? String(id) : undefined;
  } catch {
    return undefined;
  }
}

function readRecord(item: unknown, plan: FetchPlan, budget: Budget): Row | RemoteFailure {
  try {
    const row = typeof item === "object" && item !== null ? readRow(item as Row, plan, budget) : undefined;
    if (row !== undefined) return row;
  } catch {
    // A getter or a proxy threw. Its error is not needed here.
  }
  return new RemoteFailure("invalid", NO_RECORD);
}

/** Undefined for a record that does not match its entity. */
function readRow(item: Row, { readers, nested }: FetchPlan, budget: Budget): Row | undefined {
  budget.left -= RECORD_BYTES;
  const row: Row = {};
  for (let i = 0; i < readers.length; i++) {
    const { name, optional, nullWhenAbsent, read } = readers[i] as FetchPlan["readers"][number];
    const value = Object.hasOwn(item, name) ? item[name] : undefined;
    if (value === undefined || (value === null && optional)) {
      if (value === null || nullWhenAbsent) row[name] = null;
      continue;
    }
    const copy = read(value, budget);
    if (copy === REFUSED) return undefined;
    row[name] = copy;
  }
  if (budget.left < 0 || row.id === undefined) return undefined;
  for (const { relation, plan } of nested) {
    const value = Object.hasOwn(item, relation.name) ? item[relation.name] : undefined;
    row[relation.name] = relation.many ? readMany(value, plan, budget) : readOne(value, plan, budget);
  }
  return budget.left < 0 ? undefined : row;
}

function readOne(value: unknown, plan: FetchPlan, budget: Budget): Answer {
  return value === undefined || value === null ? null : readRecord(value, plan, budget);
}

function readMany(value: unknown, plan: FetchPlan, budget: Budget): readonly Answer[] {
  if (value === undefined || value === null) return [];
  // A list counts for at least its records, so that lists of empty items are limited, too.
  if (!Array.isArray(value) || value.length * RECORD_BYTES > budget.left)
    return [new RemoteFailure("invalid", NO_RECORD)];
  const answers: Answer[] = [];
  for (let i = 0; i < value.length && budget.left > 0; i++) answers.push(readRecord(value[i], plan, budget));
  return answers;
}
