/** A request as adapters hand it over: raw, nothing decoded or normalised. */
export interface KernelRequest {
  readonly method: string;
  /** Raw path and query, as on the request line; without `base` when the app is mounted under a path. */
  readonly url: string;
  /** Path the app is mounted under (no trailing slash). It takes the place of the API prefix. @default not mounted */
  readonly base?: string | undefined;
  /** Header values by lower-case name, as node:http has them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: KernelBody | undefined;
  /**
   * Address of the other end of the connection, which may be a proxy's; headers do not change it.
   * @default the host does not report it
   */
  readonly address?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The framework's own request; passed to the adapter's `getUser` and to handlers. */
  readonly raw?: unknown;
  /** The adapter's own `getUser`; wins over the app's. */
  readonly getUser?: ((request: never) => unknown) | undefined;
}

/** A body: unread bytes, bytes in memory, or what a body parser already made of it. */
export type KernelBody =
  | { readonly kind: "stream"; readonly stream: AsyncIterable<Uint8Array> }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "parsed"; readonly value: unknown };

/** A response as adapters write it out. Header names are lower-case; a list is several headers of one name. */
export interface KernelResponse {
  status: number;
  headers: Record<string, string | readonly string[]>;
  body: string | Uint8Array | AsyncIterable<Uint8Array | string> | null;
}

/** The request a response is made for; it may refuse to keep more in memory. */
export interface ByteHolder {
  /**
   * Notes bytes of a large response.
   * @throws UnavailableError when too many large responses are in flight
   */
  hold?(bytes: number): void;
}

/** The current request, as the code that handles it sees it. */
export interface HttpExchange extends ByteHolder {
  readonly request: KernelRequest;
  /** What the matched route does: "create", an action's name. Undefined until a route matched. */
  readonly route?: { readonly action: string } | undefined;
  /** Headers that are added to the response, unless it is an error. Names are lower-case. */
  readonly headers: Record<string, string | readonly string[]>;
  /** Aborted when the caller has disconnected or was sent a timeout. */
  readonly signal: AbortSignal;
  /** Whether the caller was sent a timeout. */
  readonly isExpired: boolean;
}

/** What `getUser` of the app's options gets: the parts that all hosts have. */
export interface RequestInfo {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  /** The framework's own request. */
  readonly raw: unknown;
}
