import type { User } from "../../kernel/index.ts";

/** Relations to include, nested; true includes the records without further relations. */
export type RemoteInclude = boolean | { readonly [relation: string]: RemoteInclude };

/** The caller of the request that calls a service. */
export interface RemoteCaller {
  /** Null for an anonymous caller and for the system. */
  readonly user: User | null;
  /** A header of the current request; undefined when it is absent or there is no request. */
  header(name: string): string | undefined;
}

/** Options of a fetch from a remote service. */
export interface RemoteFetchOptions {
  /** Relations to fetch with the records. @default no relations */
  readonly include?: RemoteInclude;
  /** Fields to fetch: those that the caller may read and those that rules use. @default all */
  readonly select?: string[];
  /**
   * Headers with the trace context of the call (W3C Trace Context), for services over HTTP.
   * @default no headers
   */
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * Aborted when the response is no longer needed: the deadline has passed, the client has disconnected, or the join
   * has failed.
   */
  readonly signal?: AbortSignal | undefined;
  /** Absent for services whose responses are shared between callers. */
  readonly caller?: RemoteCaller | undefined;
}

/** How many responses of a service are cached across requests, and for how long. */
export interface SharedAnswers {
  /** Milliseconds for which a response is fresh. @default 30000 */
  readonly ttl?: number | undefined;
  /** Maximum number of cached records. @default 1000 */
  readonly max?: number | undefined;
  /** Milliseconds after `ttl` for which a stale response is used while the service fails. @default 0 */
  readonly staleIfError?: number | undefined;
}

/** A source of records outside the app's database (spec 2.6). Its data is checked, copied and masked. */
export interface RemoteService {
  /**
   * Returns records by id, in any order, without entries for unknown ids.
   * @param ids distinct, at most one batch; the service may keep or change this list and those in the options
   */
  fetchByIds(
    entityName: string,
    ids: string[],
    options?: RemoteFetchOptions,
  ): Promise<readonly unknown[]> | readonly unknown[];
  /**
   * Whether every caller gets the same responses, so that they may be cached across requests. Field masks are applied
   * to cached responses, too. @default false
   */
  readonly shared?: boolean | SharedAnswers | undefined;
  /**
   * The service's own timeout in milliseconds. Only tools such as `keelson lint` use it.
   * @default no timeout: only the deadline of the whole join ends a call
   */
  readonly timeout?: number | undefined;
}
