import { ConfigurationError, isObject } from "../../../entity/index.ts";
import type { RemoteCaller, RemoteFetchOptions, RemoteService, SharedAnswers } from "../../../gate/index.ts";
import { isValidEntityName, kebabCase, PluginError, pluralize, unknownKeys } from "../../../kernel/index.ts";
import { RemoteFailure } from "../stitch/failures.ts";
import { fetchList, type ListAddress, listAddresses } from "./fetch-list.ts";

/** A name is a token, and a value visible text (RFC 9110 sections 5.1 and 5.5). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** They belong to one connection (RFC 9110 section 7.6.1), or say where the request goes and what its body is. */
const OF_THE_CONNECTION = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Why no request may have a header of this name; undefined when it may. */
function headerNameProblem(name: unknown): string | undefined {
  if (typeof name !== "string" || !NAME.test(name)) return "is no name of a header";
  return OF_THE_CONNECTION.has(name.toLowerCase()) ? "is for the connection to say" : undefined;
}

/** Why a header cannot have this value; undefined when it can. The value is not in it, because it may be a secret. */
function headerValueProblem(value: unknown): string | undefined {
  if (typeof value !== "string") return "must be text";
  return VALUE.test(value) ? undefined : "has a character that no header can have";
}

/** Why these headers cannot be sent; undefined when they can. */
function headersProblem(headers: unknown): string | undefined {
  if (!isObject(headers)) return "must be an object";
  for (const [name, value] of Object.entries(headers)) {
    const problem = headerNameProblem(name) ?? headerValueProblem(value);
    if (problem !== undefined) return `"${name}" ${problem}`;
  }
  return undefined;
}

const KNOWN: Readonly<Record<keyof HttpServiceOptions, true>> = {
  baseUrl: true,
  paths: true,
  headers: true,
  forward: true,
  timeout: true,
  maxBytes: true,
  shared: true,
};

/** The longest a timer can wait; beyond it, it would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;
const RANGES = { timeout: [1, LONGEST_MS], maxBytes: [1, Number.MAX_SAFE_INTEGER] } as const;

/** What is wrong with the options. One that is misspelt would limit or protect nothing, so it is wrong, too. */
function checkOptions(options: HttpServiceOptions): string[] {
  const problems = [...baseProblems(options), ...headerProblems(options)];
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = options[name as keyof typeof RANGES];
    if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most))
      problems.push(`\`${name}\` must be a whole number from ${least} to ${most}`);
  }
  return [...problems, ...unknownKeys(options, Object.keys(KNOWN))];
}

function baseProblems({ baseUrl, paths = {} }: HttpServiceOptions): string[] {
  const text = String(baseUrl);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol))
    return ["`baseUrl` must be an address such as https://billing.example/api"];
  // The address is part of messages, which a password must not be; and paths and ids are put at its end.
  if (url.username !== "" || url.password !== "")
    return ["`baseUrl` must be without user name and password; send them with `headers`"];
  if (/[?#]/.test(text)) return ["`baseUrl` must be without query and fragment"];
  return Object.entries(paths).flatMap(([name, path]) => pathProblems(url.origin, name, path));
}

function pathProblems(origin: string, name: string, path: unknown): string[] {
  if (!isValidEntityName(name)) return [`\`paths\`: "${name}" is no name of an entity`];
  const rest = typeof path === "string" ? path.replace(/^\//, "") : "";
  // What the parser of addresses would change, it would lead elsewhere: `..`, spaces, backslashes.
  const kept = URL.canParse(`${origin}/${rest}`) && new URL(`${origin}/${rest}`).href === `${origin}/${rest}`;
  if (rest !== "" && kept && !/[?#]|\/\/|\/$|^\//.test(rest)) return [];
  return [`\`paths.${name}\` must be a path below \`baseUrl\` such as "/subscriptions"`];
}

function headerProblems({ headers = {}, forward = [], shared }: HttpServiceOptions): string[] {
  const problem = typeof headers === "function" ? undefined : headersProblem(headers);
  if (problem !== undefined) return [`\`headers\`: ${problem}`];
  if (!Array.isArray(forward)) return ['`forward` must be a list of header names such as ["authorization"]'];
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const problems = forward.flatMap((name: unknown) => {
    const reason = headerNameProblem(name);
    if (reason !== undefined) return [`\`forward\`: "${String(name)}" ${reason}`];
    const twice = own.has(String(name).toLowerCase());
    return twice ? [`"${String(name)}" is in \`headers\` and in \`forward\`; it is this app's or the caller's`] : [];
  });
  // What one caller was given would be given to the next one.
  if (forward.length > 0 && shared !== undefined && shared !== false)
    problems.push("`forward` and `shared` exclude each other: answers to one caller are not for others");
  return problems;
}

/** Requests of one call that are under way at once. */
const LANES = 4;

/**
 * A service that reads records by id from another Keelson server, or from a json-server:
 * `GET <baseUrl>/<plural>?id=a&id=b`. The other side's rules apply to the caller it sees: this app, unless `forward`
 * passes on headers of the caller. The host is fixed, redirects are not followed, and a call that needs more than one
 * request fails as a whole.
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
        call.end(error); // one failure ends the other requests, whose responses are now useless
        throw error;
      } finally {
        call.release();
      }
    },
  });
}

/** The result of the work, unless the signal comes first: creating a token may never finish. */
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

/**
 * Headers of the requests of one call: this app's own, those of the caller's that may be passed on, and those of the trace,
 * unless one of the others has that name.
 * @throws PluginError when the app's function returns what cannot be sent, or what is passed on as well
 */
async function requestHeaders(
  { headers = {}, forward = [] }: Pick<HttpServiceOptions, "headers" | "forward">,
  caller: RemoteCaller | undefined,
  traceHeaders: RemoteFetchOptions["traceHeaders"] = {},
): Promise<Headers> {
  const own = typeof headers === "function" ? await headers() : headers;
  const problem = headersProblem(own);
  if (problem !== undefined) throw new PluginError(`\`headers\`: ${problem}`);
  const result = new Headers({ accept: "application/json" });
  for (const [name, value] of Object.entries(own)) result.set(name, value);
  for (const name of forward) {
    // Neither may stand in for the other: an unknown caller would act with the rights of the app.
    if (Object.keys(own).some((given) => given.toLowerCase() === name.toLowerCase()))
      throw new PluginError(`"${name}" is in \`headers\` and in \`forward\`; it is this app's or the caller's`);
    const value = caller?.header(name);
    if (value !== undefined && headerValueProblem(value) === undefined) result.set(name, value);
  }
  for (const [name, value] of Object.entries(traceHeaders)) if (!result.has(name)) result.set(name, value);
  return result;
}

/** What ends all requests of one call. */
interface CallEnd {
  readonly signal: AbortSignal;
  /** Ends them now. */
  end(reason: unknown): void;
  /** Call it when no request is pending any more. */
  release(): void;
}

/**
 * Ends a call when its time is over, or when its caller no longer waits. Linked by hand: derived signals stay
 * registered with their source, and a server's signals live long.
 * @param timeout milliseconds; undefined for none
 */
function createCallEnd(outer: AbortSignal | undefined, timeout: number | undefined): CallEnd {
  const controller = new AbortController();
  const leave = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) leave();
  outer?.addEventListener("abort", leave, { once: true });
  const late = (): void => controller.abort(new RemoteFailure("timeout", `There was no answer within ${timeout} ms`));
  const timer = timeout === undefined ? undefined : setTimeout(late, timeout).unref();
  return {
    signal: controller.signal,
    end: (reason) => controller.abort(reason),
    release() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", leave);
    },
  };
}

/** Header values by name. */
export type HttpHeaders = Readonly<Record<string, string>>;

/** Options of `httpService`. */
export interface HttpServiceOptions {
  /**
   * Address that the entities are below: `http://billing.internal/api` for `http://billing.internal/api/subscriptions`.
   * Without user name, password, query and fragment. No data of a request changes where it leads.
   */
  readonly baseUrl: string | URL;
  /** Path below `baseUrl` by entity name. @default the plural in kebab-case, as Keelson serves it: `order-items` */
  readonly paths?: Readonly<Record<string, string>> | undefined;
  /** Headers of this app's own: the object, or a function that is asked before each call, for tokens that expire. @default none */
  readonly headers?: HttpHeaders | (() => HttpHeaders | Promise<HttpHeaders>) | undefined;
  /**
   * Headers of the caller's request that are passed on, such as `["authorization"]`. Without them the other side sees
   * this app as the caller. Excludes `shared`.
   * @default none
   */
  readonly forward?: readonly string[] | undefined;
  /** Milliseconds for one call, in addition to the time limit of the caller. @default only that limit */
  readonly timeout?: number | undefined;
  /** Bytes of the answers to one call, counted once they are unpacked; what is longer is not read to its end. @default 5242880 */
  readonly maxBytes?: number | undefined;
  /** Whether every caller is given the same answers, so that they may be kept across requests. @default false */
  readonly shared?: boolean | SharedAnswers | undefined;
}
