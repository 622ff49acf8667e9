import { isKeelsonError } from "../../../entity/index.ts";
import type { RemoteFetchOptions, RemoteInclude } from "../../../gate/index.ts";
import { DEFAULT_LIMITS, PluginError } from "../../../kernel/index.ts";
import { RemoteFailure } from "../stitch/failures.ts";

/** `application/json` and types based on it, such as `application/hal+json` (RFC 6839 section 3.1). */
const JSON_TYPE = /^application\/(?:[\w.!#$&^+-]+\+)?json\s*(?:;|$)/i;

/** The shared parts of a call's requests. */
export interface ListRequest {
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly budget: ByteBudget;
}

/**
 * Fetches the records of one list. Error messages only contain the host and the status, because they are logged.
 * @throws RemoteFailure when there is no response, or it is not a list; the signal's reason when it is aborted
 */
export async function fetchList(
  { url, unselected }: ListAddress,
  { headers, signal, budget }: ListRequest,
): Promise<unknown[]> {
  const { host } = new URL(url);
  // Redirects are not followed, so that the remote server cannot choose the host of a request.
  const ask = (address: string): Promise<Response> => fetch(address, { headers, signal, redirect: "manual" });
  try {
    let response = await ask(url);
    if (response.status === 400 && unselected !== undefined) {
      // A field that the server does not show us is then missing in the records, instead of failing the request.
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
    // The parser's own message would quote the response.
    throw new RemoteFailure("invalid", `${host} answered with broken JSON`);
  }
  if (!Array.isArray(list)) throw new RemoteFailure("invalid", `${host} answered with something other than a list`);
  return list;
}

/** The bytes that a call may still read. */
interface ByteBudget {
  left: number;
}

/**
 * Reads a response as text, up to the budget.
 * @throws RemoteFailure when it is longer, or is not UTF-8
 */
async function readBody({ body }: Response, budget: ByteBudget, host: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  // Counts the bytes held in memory: an announced length may be wrong, or may be the length of compressed bytes.
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

/** The default limits of a Keelson server. Path and query count together, as on the request line. */
const { urlBytes: MAX_BYTES, parameters: MAX_PARAMETERS, inValues: MAX_IDS } = DEFAULT_LIMITS;

/** Parameters other than ids: `select`, `include` and `_total`. */
const OTHERS = 3;

/** The address of a list with some of the records. */
export interface ListAddress {
  readonly url: string;
  /** The address of the same records with all their fields; undefined when `url` selects no fields. */
  readonly unselected: string | undefined;
}

/**
 * The addresses of lists that together contain the records with these ids. No address is longer than other servers
 * accept. Ids that no server accepts are left out, because no record can have them.
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

/** Groups of `id=a&id=b&`, each within the limits. */
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
