import { InternalError } from "../errors/errors.ts";
import type { BodyReading } from "../request/body-reading.ts";
import type { KernelRequest, KernelResponse } from "../request/messages.ts";
import type { Scope } from "../request/scope.ts";
import { OpenStream } from "./open-stream.ts";

/** The entity of routes below the API prefix. */
export interface Resource {
  readonly name: string;
  /** @default the plural of the name */
  readonly plural?: string | undefined;
}

/** The input of a route handler. */
export interface KernelRouteContext {
  readonly route: KernelRoute;
  readonly request: KernelRequest;
  readonly requestId: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** Raw query string without `?`. */
  readonly search: string;
  /** Absolute path of the API's root, for links (`/api`, or the path the app is mounted under). */
  readonly root: string;
  readonly scope: Scope;
  /**
   * Reads the body on first call: JSON, unless the route's `body` option selects bytes (`AsyncIterable<Uint8Array>`) or
   * a form (`FormData`).
   * @throws 400, 413, 415
   */
  body(): Promise<unknown>;
  /**
   * Answers another request of the same caller within a scope, such as a transaction: with its own route, that route's
   * rules, and the layers of plugins.
   * @param check refuses routes by throwing
   * @throws any error that the route throws; 404 and 405 when the route does not exist
   */
  dispatch(request: KernelRequest, scope: Scope, check?: (route: never) => void): Promise<KernelResponse>;
}

/** A response with a status and headers. Other return values are sent with 200, undefined with 204. */
export class Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;

  /** @throws InternalError unless the status is a whole number from 200 to 599 */
  constructor(status: number, body?: unknown, headers: Readonly<Record<string, string | readonly string[]>> = {}) {
    // Hosts report an invalid status too late: some refuse the response, others wait for the rest of it.
    if (!Number.isInteger(status) || status < 200 || status > 599)
      throw new InternalError("The status of an answer is a whole number from 200 to 599");
    this.status = status;
    this.body = body;
    this.headers = headers;
  }

  /**
   * Makes a response that does not end by itself, such as an event stream. It ends when the client disconnects or the
   * app begins to close, so that closing does not wait for it.
   * @param source yields the chunks; its signal is aborted at the end. A generator that waits for events must listen to
   *   it
   */
  static stream(
    source: (signal: AbortSignal) => AsyncIterable<Uint8Array | string>,
    headers?: Readonly<Record<string, string | readonly string[]>>,
  ): Reply {
    return new Reply(200, new OpenStream(source), headers);
  }
}

/** An error's body, masked for the caller. */
export type ErrorBody = Readonly<Record<string, unknown>> & {
  readonly status: number;
  readonly code: string;
  readonly message: string;
};

/** Members of a route that `routes.onRoute` may set. */
export type RouteChange = Partial<Pick<KernelRouteInput, "handler" | "meta" | "timeout" | "errorFormat">>;

/** A route, as the kernel handles it. */
export interface KernelRouteInput {
  readonly method: string;
  /**
   * A pattern such as `/films/:id`; see `inApi`. The last segment may capture the rest of the path (`/files/:path+`) or
   * end in a verb (`/orders/:id:archive`, `/orders:import`).
   */
  readonly path: string;
  /** Whether the path is relative to the API prefix and not to the root. @default true for routes with an entity */
  readonly inApi?: boolean | undefined;
  /** Handles the requests of the route. */
  handler(context: KernelRouteContext): unknown;
  readonly entity?: Resource | undefined;
  /** The action, for listings: "list", "create", or an action's name. */
  readonly action: string;
  /** Rules of the route itself; operations inside it have their own. If absent, the operations decide. */
  readonly rules?: readonly string[] | undefined;
  /** `summary`, `description` and `tags` for documentation; plugins may store their own data in it. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** How `body()` reads a body that is not JSON; no plugin reads such a body before the handler. @default JSON */
  readonly body?: BodyReading | undefined;
  /**
   * Formats the route's errors; status and headers are not changed. It receives the error's body masked for the caller.
   * If it throws, the error is logged and the usual format is sent.
   */
  readonly errorFormat?:
    | ((error: ErrorBody, request: KernelRequest) => { readonly type?: string | undefined; readonly body: unknown })
    | undefined;
  /** Milliseconds the request may take. @default limits.requestMs */
  readonly timeout?: number | undefined;
  /** Also handled while the app is starting, and without identifying the caller: for liveness probes. @default false */
  readonly early?: boolean | undefined;
}

/** A registered route, printable. */
export interface KernelRoute extends KernelRouteInput {
  readonly inApi: boolean;
  /** Id of the plugin that added it. */
  readonly plugin: string;
}

/** A route for listings, with its full path and the rules that decide. */
export interface RouteListing {
  readonly method: string;
  readonly path: string;
  /** Name of the entity, for entity routes. */
  readonly entity: string | undefined;
  readonly action: string;
  /** One rule must pass; an empty list denies every caller. */
  readonly rules: readonly string[];
  /** Id of the plugin that added it. */
  readonly plugin: string;
}
