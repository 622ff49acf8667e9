import type { ClientList } from "../entity/index.ts";
import type { CallOptions } from "./client-options.ts";
import { badCall, encode, segmentOf } from "./client-routes.ts";
import { type Answer, expectJson, type Outgoing, type Send, unexpectedAnswer } from "./create-sender.ts";
import { KeelsonClientError } from "./keelson-client-error.ts";
import {
  type AggregateRequest,
  type ListQuery,
  type ListWhere,
  serializeAggregate,
  serializeListQuery,
} from "./serialize-list-query.ts";

/**
 * The number of records per request of `pages` and `all`; always sent, so that a full page differs from the last one.
 */
const DEFAULT_LIMIT = 100;

/**
 * Makes the calls that every entity has.
 * @param collection the path of its records
 * @param isAssumed whether the path was derived from the name
 */
export function createEntityCalls(send: Send, collection: string, isAssumed: boolean): object {
  const ask = async (request: Outgoing): Promise<unknown> => expectJson(await send(request));
  /** Sends a write. A redirected write may have become a read, whose response would look like success. */
  const write = async (request: Outgoing): Promise<unknown> => {
    const answer = await send(request);
    if (answer.isElsewhere)
      throw unexpectedAnswer(answer, `${answer.of} was redirected; is baseUrl the address of the API?`);
    return expectJson(answer);
  };

  async function list(query: ListQuery = {}, options?: CallOptions): Promise<ClientList<unknown>> {
    const search = serializeListQuery(query);
    return readPage(query, await send({ method: "GET", path: collection, search, options, isAssumed }));
  }

  async function* pages(query: ListQuery = {}, options?: CallOptions): AsyncGenerator<unknown[], void> {
    const { page: _, limit = DEFAULT_LIMIT, after, ...asked } = query;
    let cursor: string | null | undefined = after;
    while (cursor !== null) {
      const { data, nextCursor } = await list({ ...asked, limit, after: cursor, total: false }, options);
      if (data.length > 0) yield data;
      cursor = nextCursor;
    }
  }

  async function get(id: string, query: ListQuery = {}, options?: CallOptions): Promise<unknown> {
    const path = collection + segmentOf(id);
    return await ask({ method: "GET", path, search: serializeListQuery(query), options });
  }

  async function update(id: string, data: unknown, options?: CallOptions): Promise<unknown> {
    return await write({ method: "PATCH", path: collection + segmentOf(id), body: data, options });
  }

  return Object.freeze({
    list,
    pages,
    async *all(query?: ListQuery, options?: CallOptions): AsyncGenerator<unknown, void> {
      for await (const records of pages(query, options)) yield* records;
    },
    get,
    async create(data: unknown, options?: CallOptions): Promise<unknown> {
      return await write({ method: "POST", path: collection, body: data, options, isAssumed });
    },
    update,
    async upsert(data: unknown, { on, ...options }: UpsertOptions): Promise<unknown> {
      const search = `_on=${encode([on].flat().join())}`;
      return await write({ method: "PUT", path: collection, search, body: data, options, isAssumed });
    },
    modify: (id: string, change: (current: never) => unknown, options?: ModifyOptions): Promise<unknown> =>
      modify({ get, update }, id, change, options),
    async delete(id: string, options?: CallOptions): Promise<void> {
      await write({ method: "DELETE", path: collection + segmentOf(id), options });
    },
    async aggregate(query: AggregateRequest, options?: CallOptions): Promise<unknown> {
      return await ask({ method: "GET", path: `${collection}/aggregate`, search: serializeAggregate(query), options });
    },
    /** Uses a list with one record, because `GET /count` is an action that the entity may not have. */
    async count(where?: ListWhere, options?: CallOptions): Promise<number> {
      const search = serializeListQuery({ where, select: ["id"], limit: 1 });
      const answer = await send({ method: "GET", path: collection, search, options, isAssumed });
      expectJson(answer);
      return totalOf(answer);
    },
  });
}

/** @throws KeelsonClientError when a header is missing, which would otherwise look like the end of the list */
function readPage({ limit = Number.POSITIVE_INFINITY, total }: ListQuery, answer: Answer): ClientList<unknown> {
  const data = expectJson(answer);
  if (!Array.isArray(data)) throw unexpectedAnswer(answer, `${answer.of} returned something other than a list`);
  const nextCursor = answer.headers.get("x-next-cursor");
  // A full page always has a cursor, even if no records follow.
  if (nextCursor === null && data.length >= limit) throw hiddenHeader(answer, "X-Next-Cursor");
  return { data, total: total === false ? 0 : totalOf(answer), nextCursor };
}

function totalOf(answer: Answer): number {
  const total = answer.headers.get("x-total-count");
  if (total === null) throw hiddenHeader(answer, "X-Total-Count");
  return Number(total);
}

function hiddenHeader(answer: Answer, name: string): KeelsonClientError {
  return unexpectedAnswer(
    answer,
    `${answer.of} returned no ${name}. A page of another host reads it only if the API names it in Access-Control-Expose-Headers`,
  );
}

/** Options of `upsert`. */
export interface UpsertOptions extends Omit<CallOptions, "ifVersion"> {
  /** A unique field, or the fields of a unique combination. */
  readonly on: string | readonly string[];
}

/** Options of `modify`. */
export interface ModifyOptions extends Omit<CallOptions, "ifVersion" | "idempotencyKey"> {
  /** Maximum number of attempts, including the first. @default 5 */
  readonly attempts?: number | undefined;
}

/** The calls that `modify` uses. */
interface ModifyCalls {
  readonly get: (id: string, query: undefined, options: CallOptions) => Promise<unknown>;
  readonly update: (id: string, data: unknown, options: CallOptions) => Promise<unknown>;
}

/** Maximum length of the first pause in milliseconds; it doubles with each attempt, up to `LONGEST_PAUSE`. */
const FIRST_PAUSE = 25;
const LONGEST_PAUSE = 1_000;

/**
 * Reads a record and changes it. Re-reads and retries on a conflict, so that a write is never based on stale data.
 * @throws KeelsonClientError with status 412 when every attempt conflicts; any error that `change` throws
 */
async function modify(
  { get, update }: ModifyCalls,
  id: string,
  change: (current: never) => unknown,
  { attempts = 5, ...options }: ModifyOptions = {},
): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const current = (await get(id, undefined, options)) as { readonly version?: unknown };
    const { version: ifVersion } = current;
    if (typeof ifVersion !== "number") throw badCall("modify needs records with a version");
    const data = await change(current as never);
    if (data === undefined || data === null) return current;
    try {
      return await update(id, data, { ...options, ifVersion });
    } catch (error) {
      const isChanged = error instanceof KeelsonClientError && error.status === 412;
      if (!isChanged || !(attempt < attempts)) throw error; // also stops for NaN
    }
    await pause(attempt, options.signal);
  }
}

/** Waits for a random time, so that conflicting clients do not collide again. @throws the signal's reason */
function pause(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1));
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, Math.random() * longest);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
