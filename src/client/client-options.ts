import type { EntityRoutes } from "./client-routes.ts";

/** What a client needs to know of an app's types. */
export interface TypedApp {
  readonly entities: object;
}

/** What `createClient` takes. */
export interface ClientOptions<TApi extends TypedApp = TypedApp> {
  /** Where the API begins, with its prefix: `"https://shop.example/api"`; `"/api"` on a page of the same host. */
  readonly baseUrl: string;
  /**
   * Token of the caller, requested before each request; null and undefined for an anonymous caller.
   * @default anonymous
   */
  readonly getToken?: (() => string | null | undefined | Promise<string | null | undefined>) | undefined;
  /** @default the platform's, as it is when a request is made */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether cookies go along, as `fetch` takes it. @default as `fetch` does: to the page's own host */
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
  /** Version that the record must have, for entities with versions; otherwise the status is 412. @default any */
  readonly ifVersion?: number | undefined;
  /**
   * Unique to one request, such as `crypto.randomUUID()`. A request sent again with the same key is not carried out
   * again, if the API has the plugin `idempotency`.
   * @default no key
   */
  readonly idempotencyKey?: string | undefined;
  /** Headers of this request, over those of the client. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}
