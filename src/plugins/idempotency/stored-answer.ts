import { randomUUID } from "node:crypto";
import { isKeelsonError } from "../../entity/index.ts";
import {
  compileWhere,
  digestOf,
  isUsable,
  looksAt,
  type OperationInput,
  type OperationScope,
  presentSettled,
  type RecordUse,
  type Row,
  type RowAccess,
  type Where,
} from "../../gate/index.ts";
import { AuthorizationError, BadRequestError, type KernelResponse } from "../../kernel/index.ts";

/** A stored response. */
interface KeptAnswer extends Pick<KernelResponse, "status" | "headers"> {
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  readonly rights: Rights;
}

/** Headers that are not stored: the request id, and cookies, which may log a user in. */
const OWN: ReadonlySet<string> = new Set(["x-request-id", "set-cookie"]);

/**
 * Serialises a response for storage.
 * @param added headers that are added to the response when it is sent
 * @throws BadRequestError for a response that is streamed or too large
 */
export function writeAnswer(
  { status, headers: own, body }: KernelResponse,
  added: KernelResponse["headers"],
  rights: Rights,
  limit: number,
): string {
  const headers = Object.fromEntries(Object.entries({ ...added, ...own }).filter(([name]) => !OWN.has(name)));
  const kept: KeptAnswer = { status, headers, rights };
  if (body === null) return JSON.stringify(kept);
  if (typeof body !== "string" && !(body instanceof Uint8Array)) throw unkept("is streamed");
  if (Buffer.byteLength(body) > limit) throw unkept(`is larger than ${limit} bytes`);
  // JSON may be bytes, but is stored as text.
  const isText = typeof body === "string" || String(own["content-type"]).startsWith("application/json");
  const bytes = Buffer.from(body as Uint8Array);
  return JSON.stringify(isText ? { ...kept, text: bytes.toString() } : { ...kept, base64: bytes.toString("base64") });
}

function unkept(why: string): Error {
  return new BadRequestError(
    `This request cannot have an Idempotency-Key, since its answer ${why}, and nothing was changed. Send it without`,
  );
}

/**
 * Restores a stored response, for the same caller.
 * @throws AuthorizationError when the caller may no longer see its content
 */
export async function readAnswer(text: string, scope: OperationScope): Promise<KernelResponse> {
  const { status, headers, text: body, base64, rights } = JSON.parse(text) as KeptAnswer;
  const now = await rightsOf(scope, rights.entities, new Map(Object.entries(rights.records ?? {})), rights.counted);
  const uses = await usesNow(scope, rights.uses ?? []);
  const isLost = uses.some(({ allowed, reach }, index) => {
    const before = rights.uses?.[index];
    return (before?.allowed === true && !allowed) || before?.reach !== reach;
  });
  const isOtherReach = rights.reach !== undefined && now.reach !== rights.reach;
  const isOtherRecord = rights.records !== undefined && now.seen !== rights.seen;
  if (isLost || now.digest !== rights.digest || isOtherReach || isOtherRecord)
    throw new AuthorizationError(
      "The request was carried out before; its answer shows what you may not read now, so it is not repeated",
    );
  return {
    status,
    headers: { ...headers, "x-request-id": scope.requestId, "idempotency-replayed": "true" },
    body: body ?? (base64 === undefined ? null : Buffer.from(base64, "base64")),
  };
}

/** The rights that a response depends on: entities and records, and digests of the caller's access to them. */
interface Rights {
  readonly entities: readonly string[];
  /** For each entity: whether the caller may read all, some or no records, and which fields. */
  readonly digest: string;
  /**
   * The visible records of each entity that was counted or has no records below. Undefined in responses of earlier
   * versions.
   */
  readonly reach?: string | undefined;
  /** Entities whose records were counted. */
  readonly counted?: readonly string[] | undefined;
  /** Ids of shown records by entity. They are checked again, even if the caller may read all records now. */
  readonly records?: Readonly<Record<string, readonly string[]>> | undefined;
  /** For each of these records: whether it may be read, and which fields it shows. */
  readonly seen?: string | undefined;
  /** Uses for which actions were authorized, and whether the caller still had them after the request. */
  readonly uses?: readonly KeptUse[] | undefined;
}

/** A use for which an action was authorized, with the name of its entity. */
interface KeptUse extends Omit<RecordUse, "entity"> {
  readonly entity: string;
  readonly allowed: boolean;
  /** A digest of the records that the rules allow, if the response depends on them. */
  readonly reach?: string | undefined;
}

/** Ids of records, by the names of their entities. */
type RecordIds = ReadonlyMap<string, Iterable<string>>;

/** The most ids of one statement. */
const PORTION = 500;
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * The caller's rights on some entities and on single records of them.
 * @param detailed entities of which the response shows more than ids, when it is noted
 */
export async function rightsOf(
  scope: OperationScope,
  entities: Iterable<string>,
  shown: RecordIds = new Map(),
  counted: readonly string[] = [],
  detailed: ReadonlySet<string> = new Set(),
): Promise<Rights> {
  const names = [...new Set(entities)].sort();
  const decided: unknown[] = [];
  const records: Record<string, readonly string[]> = {};
  const seen: unknown[] = [];
  const reaches: unknown[] = [];
  for (const name of names) {
    const { allowed, forSome, predicate, guard, reach } = await scope.access.readDecision(name);
    const { readable, readablePerRow } = scope.access.mask(name);
    const fields = [...(readablePerRow?.keys() ?? [])].sort();
    decided.push(name, allowed, forSome, [...readable].sort(), fields);
    const ids = [...(shown.get(name) ?? [])].sort();
    const entity = scope.app.model.get(name);
    const isForeign = entity === undefined;
    if (!isForeign && ids.length > 0) records[name] = ids;
    const isAlike = allowed && predicate === undefined && guard === undefined && readablePerRow === undefined;
    const sights =
      isForeign || isAlike
        ? []
        : await seenOf(
            scope,
            name,
            ids.filter((id) => id !== ""),
          );
    // Shown records are checked one by one, and counted records are not.
    const isCounted = counted.includes(name);
    if (!isForeign && (isCounted || ids.length === 0)) {
      reaches.push(name, reach ?? null);
      if (isCounted) reaches.push(predicate ?? null, await shownFields(scope, name));
      // Equal conditions may match different records over time, so the matches must be equal, too.
      const isNarrow = isCounted && (predicate !== undefined || guard !== undefined);
      if (isNarrow || looksAt(compileWhere(scope.app.model, entity, predicate)))
        reaches.push(await readableOf(scope, name));
    }
    if (isAlike) continue;
    // Records of another service cannot be read again, so their condition must stay equal. Guards and hidden ids cannot
    // be compared, so such a response is not repeated. Neither is one with a record that the caller cannot read when
    // the response is stored: it was deleted, or the right was lost.
    const isComparable = guard === undefined && readablePerRow === undefined && !ids.includes("");
    const isUnsure = ids.includes("") || (detailed.has(name) && sights.includes(null));
    if (isForeign || isUnsure) decided.push(isForeign && isComparable ? exactly(predicate) : randomUUID());
    if (isForeign || ids.length === 0) continue;
    seen.push(name, sights);
  }
  const digests = { digest: digestOf(decided), reach: digestOf(reaches) };
  const rights = {
    entities: names,
    ...digests,
    ...(counted.length > 0 && { counted }),
    ...(Object.keys(records).length > 0 && { records }),
  };
  return seen.length === 0 ? rights : { ...rights, seen: digestOf(seen) };
}

/** A condition as text, with its dates. */
function exactly(condition: unknown): string | undefined {
  return JSON.stringify(condition, (_key, value) => (typeof value === "bigint" ? `${value}n` : value));
}

/** The visible fields of each record; null for records that may not be read or do not exist. */
async function seenOf(scope: OperationScope, entity: string, ids: readonly string[]): Promise<unknown[]> {
  const select = ["id", ...(scope.access.mask(entity).readablePerRow?.keys() ?? [])];
  const found = new Map<unknown, Row>();
  const find = async (input: OperationInput): Promise<void> => {
    for (const record of await readable(scope, input)) found.set(record.id, record);
  };
  for (let start = 0; start < ids.length; start += PORTION) {
    const portion = ids.slice(start, start + PORTION);
    const query = { where: { id: { in: portion } }, select, limit: portion.length };
    await find({ kind: "list", entity, query, bounded: true });
  }
  // Lists leave out records that a guard has to check.
  for (const id of ids) if (!found.has(id)) await find({ kind: "read", entity, id, query: { select }, ifFound: true });
  return Promise.all(
    ids.map(async (id) => {
      const record = found.get(id);
      return record === undefined ? null : Object.keys((await presentSettled(record, scope, false)) as Row).sort();
    }),
  );
}

/**
 * Which records the caller may read, or how many if there are many; undefined when they may read none.
 * @param by the access and the rules that apply. @default the entity's rules for reading
 */
export async function readableOf(
  scope: OperationScope,
  entity: string,
  where?: Where,
  by?: Pick<OperationInput, "access" | "rules">,
): Promise<unknown> {
  const asked = { ...by, entity, bounded: true } as const;
  const sort = [{ field: "id", direction: "asc" }] as const;
  const query = { where, select: ["id"], sort, limit: PORTION };
  const found = await orRefused(() => scope.run({ ...asked, kind: "list", query }));
  if (found === undefined || found.records.length < PORTION) return found?.records.map(({ id }) => id);
  return (await orRefused(() => scope.run({ ...asked, kind: "count", query: { where } })))?.total;
}

/** For each field that depends on the record and can be filtered on: where it is shown, and on which records. */
async function shownFields(scope: OperationScope, entity: string): Promise<unknown[]> {
  const { readablePerRow = new Map<string, RowAccess>(), filterable } = scope.access.mask(entity);
  const found: unknown[] = [];
  const columns = scope.app.model.get(entity)?.columns ?? {};
  for (const [field, { predicate }] of [...readablePerRow].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!filterable.has(field)) continue;
    // Without the operator, the records that show the field cannot be found, so the response is not repeated.
    const isAskable = columns[field]?.kind.operators.has("null") === true;
    const shown = isAskable ? await readableOf(scope, entity, { [field]: { null: false } }) : randomUUID();
    found.push(field, predicate, shown);
  }
  return found;
}

async function readable(scope: OperationScope, input: OperationInput): Promise<readonly Row[]> {
  return (await orRefused(() => scope.run(input)))?.records ?? [];
}

async function orRefused<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isKeelsonError(error) && REFUSALS.has(error.status)) return undefined;
    throw error;
  }
}

/** Whether the caller may use each of these actions now, on the same records. */
export async function usesNow(
  scope: OperationScope,
  uses: readonly Omit<KeptUse, "allowed">[],
): Promise<readonly KeptUse[]> {
  const found: KeptUse[] = [];
  for (const use of uses) {
    const { entity, access, rules, counts = false } = use;
    const reach = counts && { reach: digestOf(await readableOf(scope, entity, undefined, { access, rules })) };
    found.push({ ...use, allowed: await isUsable(scope, use), ...reach });
  }
  return found;
}
