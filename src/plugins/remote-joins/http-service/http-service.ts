import { ConfigurationError } from "../../../entity/index.ts";
import {
  isValidEntityName,
  kebabCase,
  PluginError,
  pluralize,
  type RemoteFetchOptions,
  type RemoteService,
} from "../../../kernel/index.ts";
import { createCallEnd } from "./call-end.ts";
import { checkOptions } from "./check-options.ts";
import { fetchList } from "./fetch-list.ts";
import type { HttpServiceOptions } from "./http-service-options.ts";
import { type ListAddress, listAddresses } from "./list-addresses.ts";
import { requestHeaders } from "./request-headers.ts";

/** Requests of one call that are under way at once. */
const LANES = 4;

/**
 * A service that reads records by id from another Keelson server, or from a json-server: `GET <baseUrl>/<plural>?id=a&id=b`.
 * The other side's rules hold for whom it sees: this app, unless headers of the caller are passed on with `forward`.
 * The host is fixed, redirects are not followed, and a call that needs more than one request fails as a whole.
 * @throws ConfigurationError listing everything that is wrong with the options
 * @example api.registerService("billing", () => httpService({ baseUrl: "http://billing.internal/api" }));
 */
export function httpService(options: HttpServiceOptions): RemoteService {
  const given = { ...options };
  const problems = checkOptions(given);
  if (problems.length > 0) throw new ConfigurationError(problems.map((sentence) => `httpService: ${sentence}`));
  const { origin, pathname } = new URL(given.baseUrl);
  const base = origin + pathname.replace(/\/+$/, "");
  const paths = new Map(Object.entries(given.paths ?? {}));
  const { timeout, maxBytes = 5_242_880, shared } = given;

  return Object.freeze({
    ...(shared === undefined ? {} : { shared }),
    ...(timeout === undefined ? {} : { timeout }),
    async fetchByIds(entityName: string, ids: readonly string[], asked: RemoteFetchOptions = {}) {
      if (!isValidEntityName(entityName)) throw new PluginError("Records were asked for by no name of an entity");
      const path = paths.get(entityName)?.replace(/^\//, "") ?? kebabCase(pluralize(entityName));
      const addresses = listAddresses(`${base}/${path}`, ids, asked);
      if (addresses.length === 0) return [];
      const call = createCallEnd(asked.signal, timeout);
      try {
        const headers = await untilAborted(requestHeaders(given, asked.caller, asked.traceHeaders), call.signal);
        const request = { headers, signal: call.signal, budget: { left: maxBytes } };
        return await inLanes(addresses, (address) => fetchList(address, request));
      } catch (error) {
        call.end(error); // one that failed ends those beside it, whose answers are of no use any more
        throw error;
      } finally {
        call.release();
      }
    },
  });
}

/** What the work comes to, unless the signal comes first: a token may never be made, and nobody waits for it then. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    // Never rejects: both outcomes are handled before.
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Everything that is found, in the order of the addresses; at most so many are asked at once. */
async function inLanes(
  addresses: readonly ListAddress[],
  ask: (address: ListAddress) => Promise<unknown[]>,
): Promise<unknown[]> {
  const found: unknown[][] = [];
  const waiting = addresses.entries();
  const lane = async (): Promise<void> => {
    for (const [index, address] of waiting) found[index] = await ask(address);
  };
  await Promise.all(Array.from({ length: Math.min(LANES, addresses.length) }, lane));
  return found.flat();
}
