import { isDeepStrictEqual } from "node:util";
import { type AnyEntity, isKeelsonError } from "../../entity/index.ts";
import {
  entityOfRecord,
  findsRecord,
  knownOf,
  type OperationScope,
  type Row,
  satisfiesAlone,
} from "../../gate/index.ts";
import { checkDepth, isWebResponse, Reply } from "../../kernel/index.ts";

/**
 * The result of a run as a caller may read it. Of records that they may not read only the id is left, because a write
 * is not a way to read (docs/adr/0010). Streams and bytes pass unchanged.
 */
export async function readableOnly(value: unknown, scope: OperationScope): Promise<unknown> {
  const records: Row[] = [];
  const taken = takeOver(value, records, 0);
  for (const record of records) if (!(await mayRead(scope, record))) withhold(record);
  return taken;
}

/**
 * A value in containers of our own. Code of others (`toJSON`, getters) is asked once: a second time it could give other
 * records than those that were judged.
 * @param records gets the records in it
 * @throws InternalError for what is nested too deeply, or circular
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

/** Whether a body is sent as it is; inside of others such a value is an object like any other. */
function isStreamed(value: object): boolean {
  return isWebResponse(value) || ArrayBuffer.isView(value) || Symbol.asyncIterator in value;
}

/** A record of the same entity, which hides what it hides. */
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
 * Whether the caller may read a record as it was when a step read it. Where that is no longer known, what a step returned
 * must pass, and the stored record, too. Where the record alone does not tell, its values have to be those that the caller
 * may read now.
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

/** Whether the caller may read the stored record; also true when it no longer exists. */
async function isStillTheirs(scope: OperationScope, entity: AnyEntity, id: string): Promise<boolean> {
  const isOurs = scope.app.model.get(entity.name) !== undefined;
  if (!isOurs || (await findsRecord(scope, { kind: "read", entity, id, query: {} }))) return true;
  return scope.asSystem(async ({ driver }) => (await driver.findOne(entity, { id }, { select: ["id"] })) === null);
}
