import { ConfigurationError, isObject } from "../../../entity/index.ts";
import type { RemoteCaller, RemoteFetchOptions, RemoteService, SharedAnswers } from "../../../gate/index.ts";
import { isValidEntityName, kebabCase, PluginError, pluralize, unknownKeys } from "../../../kernel/index.ts";
import { RemoteFailure } from "../stitch/failures.ts";
import { fetchList, type ListAddress, listAddresses } from "./fetch-list.ts";

/** A header name is a token, and its value is visible text (RFC 9110 sections 5.1 and 5.5). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers of a connection (RFC 9110 section 7.6.1), and headers that describe the target or the body of a request. */
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

/** The reason why a request may not have a header of this name; undefined when it may. */
function headerNameProblem(name: unknown): string | undefined {
  if (typeof name !== "string" || !NAME.test(name)) return "is not the name of a header";
  return OF_THE_CONNECTION.has(name.toLowerCase()) ? "is for the connection to say" : undefined;
}

/**
 * The reason why a header cannot have this value; undefined when it can. Does not quote the value, which may be a
 * secret.
 */
function headerValueProblem(value: unknown): string | undefined {
  if (typeof value !== "string") return "must be text";
  return VALUE.test(value) ? undefined : "has a character that no header can have";
}

/** The reason why these headers cannot be sent; undefined when they can. */
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

/** The longest delay of a timer; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;
const RANGES = { timeout: [1, LONGEST_MS], maxBytes: [1, Number.MAX_SAFE_INTEGER] } as const;

/** The problems of the options. A misspelt option is a problem, because it would limit or protect nothing. */
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
  // Messages contain the address, so it must not contain a password; paths and ids are appended to it.
  if (url.username !== "" || url.password !== "")
    return ["`baseUrl` must be without user name and password; send them with `headers`"];
  if (/[?#]/.test(text)) return ["`baseUrl` must be without query and fragment"];
  return Object.entries(paths).flatMap(([name, path]) => pathProblems(url.origin, name, path));
}

function pathProblems(origin: string, name: string, path: unknown): string[] {
  if (!isValidEntityName(name)) return [`\`paths\`: "${name}" is not the name of an entity`];
  const rest = typeof path === "string" ? path.replace(/^\//, "") : "";
  // The URL parser would change some paths, so that they lead elsewhere: `..`, spaces, backslashes.
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
  // Responses to one caller would be shown to other callers.
  if (forward.length > 0 && shared !== undefined && shared !== false)
    problems.push("`forward` and `shared` exclude each other: answers to one caller are not for others");
  return problems;
}

/** The most concurrent requests of one call. */
const LANES = 4;

/**
 * A service that reads records by id from another Keelson server or a json-server: `GET <baseUrl>/<plural>?id=a&id=b`.
 * The server's rules apply to the caller that it sees: this app, unless `forward` passes on headers of the caller. The
 * host is fixed, redirects are not followed, and a call with several requests fails if one of them fails.
 * @throws ConfigurationError listing all problems of the options
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
      if (!isValidEntityName(entityName)) throw new PluginError("The name of the entity of the records is not valid");
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

/** The result of work, or the signal's reason if that is aborted first: fetching a token may never finish. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    // Never rejects: both outcomes are handled before.
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** The results of all addresses, in their order. At most `LANES` requests run at once. */
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
 * The headers of a call's requests: the app's own, those forwarded from the caller, and those of the trace unless
 * another header has the same name.
 * @throws PluginError when the app's function returns headers that cannot be sent, or that are also forwarded
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
    // Neither may replace the other: an unknown caller would act with the rights of the app.
    if (Object.keys(own).some((given) => given.toLowerCase() === name.toLowerCase()))
      throw new PluginError(`"${name}" is in \`headers\` and in \`forward\`; it is this app's or the caller's`);
    const value = caller?.header(name);
    if (value !== undefined && headerValueProblem(value) === undefined) result.set(name, value);
  }
  for (const [name, value] of Object.entries(traceHeaders)) if (!result.has(name)) result.set(name, value);
  return result;
}

/** Ends all requests of one call. */
interface CallEnd {
  readonly signal: AbortSignal;
  /** Ends the requests now. */
  end(reason: unknown): void;
  /** Call it when no request is pending any more. */
  release(): void;
}

/**
 * Ends a call when its time is up, or when its caller no longer waits. The signals are linked by hand, because derived
 * signals stay registered with their source, and a server's signals live long.
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
   * The address below which the entities are: `http://billing.internal/api` for
   * `http://billing.internal/api/subscriptions`. Without user name, password, query and fragment. Data of requests
   * never changes the host.
   */
  readonly baseUrl: string | URL;
  /** Paths below `baseUrl` by entity name. @default the plural in kebab-case, as Keelson serves it: `order-items` */
  readonly paths?: Readonly<Record<string, string>> | undefined;
  /**
   * The app's own headers: an object, or a function that is called before each call, for tokens that expire. @default
   * none
   */
  readonly headers?: HttpHeaders | (() => HttpHeaders | Promise<HttpHeaders>) | undefined;
  /**
   * Headers of the caller's request that are forwarded, such as `["authorization"]`. Without them, the server sees this
   * app as the caller. Cannot be combined with `shared`.
   * @default none
   */
  readonly forward?: readonly string[] | undefined;
  /** Milliseconds for one call, in addition to the time limit of the caller. @default only that limit */
  readonly timeout?: number | undefined;
  /**
   * The most bytes of all responses to one call, after decompression; longer responses are not read to the end.
   * @default 5242880
   */
  readonly maxBytes?: number | undefined;
  /** Whether all callers get the same responses, so that they may be cached across requests. @default false */
  readonly shared?: boolean | SharedAnswers | undefined;
}
