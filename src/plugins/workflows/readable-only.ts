import { isDeepStrictEqual } from "node:util";
import { type AnyEntity, isKeelsonError } from "../../entity/index.ts";
import {
  entityOfRecord,
  findsRecord,
  knownOf,
  type OperationScope,
  type Row,
  ShownRecords,
  satisfiesAlone,
} from "../../gate/index.ts";
import { AuthorizationError, checkDepth, isWebResponse, Reply } from "../../kernel/index.ts";
import type { WorkflowResult } from "./definition/workflow.ts";
import { hasNotedRights } from "./saga/noted-rights.ts";
import { shownIn } from "./saga/saga-runtime.ts";

/**
 * The result of a run as a caller may read it. Records that they may not read keep only their id, because a write must
 * not be a way to read (docs/adr/0010). Streams and bytes pass unchanged.
 */
export async function readableOnly(value: unknown, scope: OperationScope): Promise<unknown> {
  const records: Row[] = [];
  const taken = takeOver(value, records, 0);
  for (const record of records) if (!(await mayRead(scope, record))) withhold(record);
  return taken;
}

/**
 * Copies a value into new containers. Foreign code (`toJSON`, getters) is called only once: a second call could return
 * records other than those that were checked.
 * @param records receives the records of the value
 * @throws InternalError for values that are nested too deeply, or circular
 */
function takeOver(value: unknown, records: Row[], depth: number): unknown {
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (depth === 0 && isStreamed(value)) return value;
  if (value instanceof Reply) return new Reply(value.status, takeOver(value.body, records, 0), value.headers);
  checkDepth(depth);
  const inner = (part: unknown): unknown => takeOver(part, records, depth + 1);
  if (Array.isArray(value)) return Array.from(value, inner);
  if (entityOfRecord(value) !== undefined) return takeRecord(value as Row, records, inner);
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === "function") return inner(toJSON.call(value));
  if (value instanceof Map) return new Map(Array.from(value, ([key, part]) => [key, inner(part)]));
  if (value instanceof Set) return Array.from(value, inner);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inner(part)]));
}

/** Whether a value is sent unchanged as the whole body. Inside another value it is treated as a plain object. */
function isStreamed(value: object): boolean {
  return isWebResponse(value) || ArrayBuffer.isView(value) || Symbol.asyncIterator in value;
}

/** Copies a record. The copy belongs to the same entity and hides the same fields. */
function takeRecord(record: Row, records: Row[], inner: (part: unknown) => unknown): Row {
  const copy: Row = {};
  for (const name of Reflect.ownKeys(record) as string[]) {
    const enumerable = Object.prototype.propertyIsEnumerable.call(record, name);
    const value = typeof name === "string" ? inner(record[name]) : record[name];
    Object.defineProperty(copy, name, { value, enumerable, writable: true, configurable: true });
  }
  records.push(copy);
  return copy;
}

function withhold(record: Row): void {
  for (const name of Reflect.ownKeys(record) as string[]) if (name !== "id") delete record[name];
}

/**
 * Whether the caller may read a record in the state in which a step read it. If that state is no longer known, both the
 * returned and the stored record must pass. If the record alone does not decide it, its values must equal those that
 * the caller may read now.
 */
async function mayRead(scope: OperationScope, record: Row): Promise<boolean> {
  const entity = entityOfRecord(record);
  if (entity === undefined || scope.principal.kind === "system") return true;
  const asked = { kind: "read", entity, id: String(record.id) } as const;
  try {
    const { predicate, guard } = await scope.access.decide(asked);
    if (predicate === undefined && guard === undefined) return true;
    const read = knownOf(record)?.values;
    const alone = satisfiesAlone(scope, entity, read ?? record, { predicate, guard });
    if (alone === true) return read !== undefined || (await isStillTheirs(scope, entity, asked.id));
    if (alone === false && guard === undefined) return false;
    const [now] = (await scope.run(asked)).records;
    const isSame = (name: string): boolean => isDeepStrictEqual(now?.[name], (read ?? record)[name]);
    return Object.keys(entity.columns).every((name) => !(name in (read ?? record)) || isSame(name));
  } catch (error) {
    if (isKeelsonError(error) && error.status < 500) return false;
    throw error;
  }
}

/**
 * Notes of one run, for a request whose response may be repeated; undefined for other requests. Runs of one request may be
 * in progress at the same time.
 */
export function ownNotes({ state: { shown } }: OperationScope): ShownRecords | undefined {
  return shown && new ShownRecords(shown.whenCounted);
}

/**
 * Notes what the outcome of a run depends on, for the response that shows it.
 * @param own the notes that the request has given to the run
 * @throws AuthorizationError when an earlier request started the run, and the caller may no longer read what its steps
 * read
 */
export async function joinShown(
  scope: OperationScope,
  ended: WorkflowResult,
  own: ShownRecords | undefined,
): Promise<void> {
  const { shown } = scope.state;
  const notes = shownIn(ended);
  if (shown === undefined) return;
  shown.join(notes);
  if (notes !== undefined && notes !== own && !(await hasNotedRights(scope, notes)))
    throw new AuthorizationError("The request was carried out before; its answer shows what you may not read now");
  try {
    await scope.anew(async (fresh) => shown.whenCounted?.(fresh, shown));
  } catch {
    shown.isKnown = false; // the run has ended, so its response is sent, but not repeated
  }
}

/** Whether the caller may read the stored record; also true if it no longer exists. */
async function isStillTheirs(scope: OperationScope, entity: AnyEntity, id: string): Promise<boolean> {
  const isOurs = scope.app.model.get(entity.name) !== undefined;
  if (!isOurs || (await findsRecord(scope, { kind: "read", entity, id, query: {} }))) return true;
  return scope.asSystem(async ({ driver }) => (await driver.findOne(entity, { id }, { select: ["id"] })) === null);
}
