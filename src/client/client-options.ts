import type { EntityRoutes } from "./client-routes.ts";

/** The part of an app's types that a client needs. */
export interface TypedApp {
  readonly entities: object;
}

/** The options of `createClient`. */
export interface ClientOptions<TApi extends TypedApp = TypedApp> {
  /** The address of the API, with its prefix: `"https://shop.example/api"`; `"/api"` for a page on the same host. */
  readonly baseUrl: string;
  /**
   * Returns the caller's token, called before each request; null and undefined for an anonymous caller.
   * @default anonymous
   */
  readonly getToken?: (() => string | null | undefined | Promise<string | null | undefined>) | undefined;
  /** @default the platform's `fetch` at the time of the request */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Headers for every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether cookies are sent, like the option of `fetch`. @default like `fetch`: to the page's own host */
  readonly credentials?: RequestCredentials | undefined;
  /**
   * Addresses of entities and their actions, as returned by `clientRoutes(api)`.
   * @default regular plurals; actions are a POST to their name
   */
  readonly routes?: { readonly [N in keyof TApi["entities"]]?: EntityRoutes | undefined } | undefined;
}

/** The last argument of every call. */
export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
  /** The version that the record must have, for versioned entities; otherwise the call fails with 412. @default any */
  readonly ifVersion?: number | undefined;
  /**
   * A key unique to one request, such as `crypto.randomUUID()`. A repeated request with the same key is not executed
   * again, if the API has the plugin `idempotency`.
   * @default no key
   */
  readonly idempotencyKey?: string | undefined;
  /** Headers for this request; they take precedence over the client's. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}
