import type { SharedAnswers } from "../../../gate/index.ts";

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
