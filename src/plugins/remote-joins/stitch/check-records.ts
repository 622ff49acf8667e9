import type { Row } from "../../../gate/index.ts";
import { RemoteFailure } from "./failures.ts";
import type { FetchPlan } from "./fetch-plan.ts";
import { type Budget, REFUSED } from "./read-value.ts";

/** What a service has under an id: a record of plain values, null without a record, or why that is not known. */
export type Answer = Row | null | RemoteFailure;

/** Items of an answer at most: services that ignore ids, and give all they have, are borne with up to here. */
const MAX_ITEMS = 100_000;
/** What a record costs besides its values, so that a list of empty ones ends, too. */
const RECORD_BYTES = 8;

const NO_LIST = "The service did not answer with a list";
const TOO_LONG = `The service answered with more than ${MAX_ITEMS} records`;
const NO_RECORD = "The service answered with a record that is too large, or not what its entity says";

/**
 * Turns what a service returned into one result per id, in the order of the ids. It is outside data: values are copied
 * and have to be of the declared types. Fields and records that were not requested are dropped; of two records with one
 * id the first counts.
 * @param ids distinct
 * @param maxBytes of one record, with what is nested in it
 * @throws RemoteFailure for anything but a list of acceptable length
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

/** An object of a list; its getter may throw. */
function itemOf(list: readonly unknown[], index: number): object | undefined {
  try {
    const item = list[index];
    return typeof item === "object" && item !== null ? item : undefined;
  } catch {
    return undefined;
  }
}

/** Only an id that is the object's own property counts, not one from its prototype, say. */
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
    // A getter or a proxy threw; its error is of no interest here.
  }
  return new RemoteFailure("invalid", NO_RECORD);
}

/** Undefined for a record that is not what its entity says. */
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
  // A list costs what its records cost at least, so that one with nothing but holes ends, too.
  if (!Array.isArray(value) || value.length * RECORD_BYTES > budget.left)
    return [new RemoteFailure("invalid", NO_RECORD)];
  const answers: Answer[] = [];
  for (let i = 0; i < value.length && budget.left > 0; i++) answers.push(readRecord(value[i], plan, budget));
  return answers;
}
