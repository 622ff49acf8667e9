import { isKeelsonError } from "../../entity/index.ts";
import { entityOfRecord, type OperationScope, type Row, satisfiesAlone } from "../../gate/index.ts";
import { isWebResponse, Reply } from "../../kernel/index.ts";

/** As deep as answers may be. */
const MAX_DEPTH = 64;

/**
 * The result of a run as a caller may read it. Of records that they may not read only the id is left, because a write
 * is not a way to read (docs/adr/0010). Streams and bytes pass unchanged.
 */
export async function readableOnly(value: unknown, scope: OperationScope): Promise<unknown> {
  const found = new Set<Row>();
  collect(value, found, 0);
  const withheld = new Set<Row>();
  for (const record of found) if (!(await mayRead(scope, record))) withheld.add(record);
  return withheld.size === 0 ? value : without(value, withheld);
}

/** What a value is made of; undefined for what is no container. */
function partsOf(value: unknown): readonly unknown[] | undefined {
  if (typeof value !== "object" || value === null || value instanceof Date) return undefined;
  if (isWebResponse(value) || ArrayBuffer.isView(value) || Symbol.asyncIterator in value) return undefined;
  if (value instanceof Reply) return [value.body];
  if (value instanceof Map) return [...value.values()];
  if (Array.isArray(value) || value instanceof Set) return [...value];
  const { toJSON } = value as { readonly toJSON?: unknown };
  return typeof toJSON === "function" ? [toJSON.call(value)] : Object.values(value);
}

function collect(value: unknown, found: Set<Row>, depth: number): void {
  const parts = depth > MAX_DEPTH ? undefined : partsOf(value); // deeper ones the serializer refuses
  if (parts === undefined) return;
  if (entityOfRecord(value as object) !== undefined) found.add(value as Row);
  for (const part of parts) collect(part, found, depth + 1);
}

function without(value: unknown, withheld: ReadonlySet<Row>): unknown {
  const inner = (part: unknown): unknown => without(part, withheld);
  if (withheld.has(value as Row)) return { id: (value as Row).id };
  const parts = partsOf(value);
  if (parts === undefined) return value;
  if (value instanceof Reply) return new Reply(value.status, inner(value.body), value.headers);
  if (value instanceof Map) return new Map([...value].map(([key, part]) => [key, inner(part)]));
  if (Array.isArray(value) || value instanceof Set) return parts.map(inner);
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === "function") return inner(parts[0]);
  // A copy by descriptors stays a record of its entity, and hides what the record hides.
  const copy = Object.create(Object.getPrototypeOf(value), Object.getOwnPropertyDescriptors(value)) as Row;
  for (const name of Object.keys(copy)) Object.defineProperty(copy, name, { value: inner(copy[name]) });
  return copy;
}

/**
 * Whether the caller may read a record as it was when a step returned it. Where the record alone does not tell, its values
 * have to be those that the caller may read now.
 */
async function mayRead(scope: OperationScope, record: Row): Promise<boolean> {
  const entity = entityOfRecord(record);
  if (entity === undefined || scope.principal.kind === "system") return true;
  const asked = { kind: "read", entity, id: String(record.id) } as const;
  try {
    const { predicate, guard } = await scope.decide(asked);
    if (predicate === undefined && guard === undefined) return true;
    const alone = satisfiesAlone(scope, entity, record, { predicate, guard });
    if (alone === true || (alone === false && guard === undefined)) return alone;
    const [now] = (await scope.run(asked)).records;
    const isSame = (name: string): boolean => JSON.stringify(now?.[name]) === JSON.stringify(record[name]);
    return Object.keys(entity.columns).every((name) => !(name in record) || isSame(name));
  } catch (error) {
    if (isKeelsonError(error) && error.status < 500) return false;
    throw error;
  }
}
