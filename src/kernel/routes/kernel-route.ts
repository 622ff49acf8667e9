import { InternalError } from "../errors/errors.ts";
import type { BodyReading } from "../request/body-reading.ts";
import type { KernelRequest, KernelResponse } from "../request/messages.ts";
import type { Scope } from "../request/scope.ts";
import { OpenStream } from "./open-stream.ts";

/** What the routes below the API prefix are about. */
export interface Resource {
  readonly name: string;
  /** @default the plural of the name */
  readonly plural?: string | undefined;
}

/** What a route handler gets. */
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
   * The body, read on first call: JSON, unless the route's `body` says that it is bytes (`AsyncIterable<Uint8Array>`) or a
   * form (`FormData`).
   * @throws 400, 413, 415
   */
  body(): Promise<unknown>;
  /**
   * Answers another request of the same caller within a scope, such as that of a transaction: by its route, with the rules of
   * that route and the layers of plugins.
   * @param check refuses routes by throwing
   * @throws what the route throws; 404 and 405 where there is no such route
   */
  dispatch(request: KernelRequest, scope: Scope, check?: (route: never) => void): Promise<KernelResponse>;
}

/** A response with a status and headers. Any other return value is sent with 200, or as 204 for undefined. */
export class Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;

  /** @throws InternalError unless the status is a whole number from 200 to 599 */
  constructor(status: number, body?: unknown, headers: Readonly<Record<string, string | readonly string[]>> = {}) {
    // Hosts report it too late: some refuse the response, others wait for the rest of it.
    if (!Number.isInteger(status) || status < 200 || status > 599)
      throw new InternalError("The status of an answer is a whole number from 200 to 599");
    this.status = status;
    this.body = body;
    this.headers = headers;
  }

  /**
   * A response that would never end by itself, such as a stream of events. It ends when the client disconnects and when the
   * app begins to close, so that closing need not wait for it.
   * @param source gives the chunks; its signal is aborted at the end. A generator that waits for events has to listen to it
   */
  static stream(
    source: (signal: AbortSignal) => AsyncIterable<Uint8Array | string>,
    headers?: Readonly<Record<string, string | readonly string[]>>,
  ): Reply {
    return new Reply(200, new OpenStream(source), headers);
  }
}

/** An error's body, as this caller may see it. */
export type ErrorBody = Readonly<Record<string, unknown>> & {
  readonly status: number;
  readonly code: string;
  readonly message: string;
};

/** Members of a route that `routes.onRoute` may set. */
export type RouteChange = Partial<Pick<KernelRouteInput, "handler" | "meta" | "timeout" | "errorFormat">>;

/** A route as the kernel knows it. */
export interface KernelRouteInput {
  readonly method: string;
  /**
   * Pattern such as `/films/:id`; see `inApi`. Its last segment may be all that follows (`/files/:path+`), or end in a verb
   * (`/orders/:id:archive`, `/orders:import`).
   */
  readonly path: string;
  /** Whether the path is below the API prefix, rather than from the root. @default whether it has an entity */
  readonly inApi?: boolean | undefined;
  /** Handles the requests of the route. */
  handler(context: KernelRouteContext): unknown;
  readonly entity?: Resource | undefined;
  /** What it does, for listings: "list", "create", an action's name. */
  readonly action: string;
  /** Rules of the route itself; operations inside it have their own. Absent: the operations decide. */
  readonly rules?: readonly string[] | undefined;
  /** `summary`, `description` and `tags` for documentation; plugins may keep more of their own in it. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** What `body()` gives where it is not JSON; no plugin reads such a body before the handler. @default JSON */
  readonly body?: BodyReading | undefined;
  /**
   * Writes the route's errors in another form; their status and headers stay. Called with what the caller may see. When it
   * throws, that is logged, and the usual form is sent.
   */
  readonly errorFormat?:
    | ((error: ErrorBody, request: KernelRequest) => { readonly type?: string | undefined; readonly body: unknown })
    | undefined;
  /** Milliseconds the request may take. @default limits.requestMs */
  readonly timeout?: number | undefined;
  /** Handled also while the app is starting, and without finding the caller: for liveness probes. @default false */
  readonly early?: boolean | undefined;
}

/** A registered route, printable. */
export interface KernelRoute extends KernelRouteInput {
  readonly inApi: boolean;
  /** Id of the plugin that added it. */
  readonly plugin: string;
}

/** A route as a person lists it: with its whole path, and the rules that decide. */
export interface RouteListing {
  readonly method: string;
  readonly path: string;
  /** Name of the entity, for entity routes. */
  readonly entity: string | undefined;
  readonly action: string;
  /** One that passes is enough; an empty list denies every caller. */
  readonly rules: readonly string[];
  /** Id of the plugin that added it. */
  readonly plugin: string;
}
