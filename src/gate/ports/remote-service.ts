import type { User } from "../../kernel/index.ts";

/** Relations to bring along, nested; true means the records alone. */
export type RemoteInclude = boolean | { readonly [relation: string]: RemoteInclude };

/** The caller on whose behalf a service is called. */
export interface RemoteCaller {
  /** Null for an anonymous caller and for the system. */
  readonly user: User | null;
  /** A header of the current request; undefined when it is absent, or without a request. */
  header(name: string): string | undefined;
}

/** Options of a fetch from a remote service. */
export interface RemoteFetchOptions {
  /** Relations to fetch along with the records. @default no relations */
  readonly include?: RemoteInclude;
  /** Fields to fetch: those the caller may read, and those that rules look at. @default all */
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
  /** Records that are cached. @default 1000 */
  readonly max?: number | undefined;
  /** Further milliseconds for which a stale response is used while the service fails. @default 0 */
  readonly staleIfError?: number | undefined;
}

/**
 * A source of records that live elsewhere (spec 2.6). Its data comes from outside and is checked, copied and masked.
 */
export interface RemoteService {
  /**
   * Records by id, in any order; ids without a record are left out.
   * @param ids distinct, at most as many as a batch has; the service's own, like the lists in the options
   */
  fetchByIds(
    entityName: string,
    ids: string[],
    options?: RemoteFetchOptions,
  ): Promise<readonly unknown[]> | readonly unknown[];
  /**
   * Whether every caller gets the same responses, so that they may be cached across requests. Field masks are applied
   * after that. @default false
   */
  readonly shared?: boolean | SharedAnswers | undefined;
  /**
   * The service's own timeout in milliseconds. For tools such as `keelson lint`; nothing else depends on it. @default
   * no timeout: only the deadline of the whole join ends a call
   */
  readonly timeout?: number | undefined;
}
