import { isKeelsonError } from "../../../entity/index.ts";
import type { RemoteFetchOptions, RemoteInclude } from "../../../gate/index.ts";
import { DEFAULT_LIMITS, PluginError } from "../../../kernel/index.ts";
import { RemoteFailure } from "../stitch/failures.ts";

/** `application/json` and what is built on it, `application/hal+json` among them (RFC 6839 section 3.1). */
const JSON_TYPE = /^application\/(?:[\w.!#$&^+-]+\+)?json\s*(?:;|$)/i;

/** What the requests of one call have in common. */
export interface ListRequest {
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly budget: ByteBudget;
}

/**
 * The records of one list. Messages contain the host and the status alone: requests and responses do not belong in the
 * log.
 * @throws RemoteFailure when there is no response, or one that is not a list; and the signal's reason
 */
export async function fetchList(
  { url, unselected }: ListAddress,
  { headers, signal, budget }: ListRequest,
): Promise<unknown[]> {
  const { host } = new URL(url);
  // A redirect is treated like any other response that is not a list: the other side does not choose the host to call.
  const ask = (address: string): Promise<Response> => fetch(address, { headers, signal, redirect: "manual" });
  try {
    let response = await ask(url);
    if (response.status === 400 && unselected !== undefined) {
      // A field that the other side does not show to us is missing then; it does not take the record with it.
      await response.body?.cancel();
      response = await ask(unselected);
    }
    if (!response.ok || !JSON_TYPE.test(response.headers.get("content-type") ?? "")) {
      await response.body?.cancel();
      if (!response.ok) throw new RemoteFailure("error", `${host} answered with ${response.status}`);
      throw new RemoteFailure("invalid", `${host} answered with something other than JSON`);
    }
    return parseList(await readBody(response, budget, host), host);
  } catch (error) {
    signal.throwIfAborted();
    if (isKeelsonError(error)) throw error;
    throw new RemoteFailure("unavailable", `${host} cannot be reached`, { cause: error });
  }
}

function parseList(text: string, host: string): unknown[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    // The parser's own message quotes what it was given.
    throw new RemoteFailure("invalid", `${host} answered with broken JSON`);
  }
  if (!Array.isArray(list)) throw new RemoteFailure("invalid", `${host} answered with something other than a list`);
  return list;
}

/** Bytes that a call may still read. */
interface ByteBudget {
  left: number;
}

/**
 * Reads an answer as text, and no further than the budget goes.
 * @throws RemoteFailure when it is longer, or not UTF-8
 */
async function readBody({ body }: Response, budget: ByteBudget, host: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  // What counts is what is held in memory: a length that was announced may be wrong, and be that of compressed bytes.
  for await (const chunk of (body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    budget.left -= chunk.byteLength;
    if (budget.left < 0) throw new RemoteFailure("invalid", `${host} answered with more than \`maxBytes\``);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new RemoteFailure("invalid", `${host} answered with bytes that are not UTF-8`);
  }
}

/** The default limits of a Keelson server; path and query count together, as on the request line. */
const { urlBytes: MAX_BYTES, parameters: MAX_PARAMETERS, inValues: MAX_IDS } = DEFAULT_LIMITS;

/** Parameters beside the ids: `select`, `include` and `_total`. */
const OTHERS = 3;

/** Where some of the records are. */
export interface ListAddress {
  readonly url: string;
  /** The same records with all their fields; undefined when `url` names no fields. */
  readonly unselected: string | undefined;
}

/**
 * The addresses of lists that have the records with these ids between them, none longer than other servers accept. Ids
 * that no server accepts are left out: the response would be a list without their record.
 * @param resource address of the entity's list, without query
 * @throws PluginError when `select` and `include` leave no room for ids
 */
export function listAddresses(
  resource: string,
  ids: readonly string[],
  { select = [], include }: Pick<RemoteFetchOptions, "select" | "include">,
): ListAddress[] {
  const paths = includePaths(include);
  // The total is not needed.
  const rest = `${paths.length === 0 ? "" : `include=${encodeList(paths)}&`}_total=none`;
  const shape = select.length === 0 ? rest : `select=${encodeList(select)}&${rest}`;
  const room = MAX_BYTES - `${new URL(resource).pathname}?${shape}`.length;
  if (room < MAX_BYTES / 2)
    throw new PluginError("`select` and `include` are too long for an address; ask for fewer fields or relations");
  return groupIds(ids, room).map((pairs) => ({
    url: `${resource}?${pairs}${shape}`,
    unselected: shape === rest ? undefined : `${resource}?${pairs}${rest}`,
  }));
}

function encodeList(names: readonly string[]): string {
  return names.map(encodeURIComponent).join(",");
}

/** `id=a&id=b&`, as often as it takes. */
function groupIds(ids: readonly string[], room: number): string[] {
  const most = Math.min(MAX_IDS, MAX_PARAMETERS - OTHERS);
  const groups: string[] = [];
  let pairs = "";
  let count = 0;
  for (const id of ids) {
    const pair = id.isWellFormed() && !id.includes("\0") ? `id=${encodeURIComponent(id)}&` : "";
    if (pair === "" || pair.length > room) continue;
    if (count === most || pairs.length + pair.length > room) {
      groups.push(pairs);
      pairs = "";
      count = 0;
    }
    pairs += pair;
    count++;
  }
  return count === 0 ? groups : [...groups, pairs];
}

/** Nested relations as paths: `{ plan: { features: true } }` → `["plan.features"]`. */
function includePaths(include: RemoteInclude | undefined, prefix = ""): string[] {
  if (include === undefined || typeof include === "boolean") return [];
  return Object.entries(include).flatMap(([name, inner]) => {
    if (inner === false) return [];
    const below = includePaths(inner, `${prefix}${name}.`);
    return below.length === 0 ? [`${prefix}${name}`] : below;
  });
}
