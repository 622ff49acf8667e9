import type { User } from "../../kernel/index.ts";

/** Relations to bring along, nested; true means the records alone. */
export type RemoteInclude = boolean | { readonly [relation: string]: RemoteInclude };

/** On whose behalf a service is asked. */
export interface RemoteCaller {
  /** null for an anonymous caller, and for the system. */
  readonly user: User | null;
  /** A header of the request that is being answered; undefined when it has none, or when there is no request. */
  header(name: string): string | undefined;
}

/** What a remote service is told about a fetch. */
export interface RemoteFetchOptions {
  /** Relations of the records that are wanted, too. @default none */
  readonly include?: RemoteInclude;
  /** Fields that are wanted: those the caller may read, and those that rules look at. @default all */
  readonly select?: string[];
  /**
   * Headers that say which trace the call is part of (W3C Trace Context), for services that are asked over HTTP.
   * @default none
   */
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
  /** Aborted when the answer is no longer needed: the deadline is over, the client has gone, or the join has failed. */
  readonly signal?: AbortSignal | undefined;
  /** Absent for services whose answers are shared between callers. */
  readonly caller?: RemoteCaller | undefined;
}

/** How long and how many answers of a service are kept across requests. */
export interface SharedAnswers {
  /** Milliseconds that an answer is good for. @default 30000 */
  readonly ttl?: number | undefined;
  /** Records that are kept. @default 1000 */
  readonly max?: number | undefined;
  /** Milliseconds, after those, that an answer is still given while the service fails. @default 0 */
  readonly staleIfError?: number | undefined;
}

/** A source of records that live elsewhere (spec 2.6). What it returns is data from outside: checked, copied and masked. */
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
   * Whether every caller is given the same answers, so that they may be kept across requests. Field masks are applied
   * after that. @default false
   */
  readonly shared?: boolean | SharedAnswers | undefined;
  /**
   * Milliseconds after which it gives a call up by itself. For tools that read it, such as `keelson lint`; nothing else
   * depends on it. @default none: only the deadline of the whole join ends a call
   */
  readonly timeout?: number | undefined;
}
