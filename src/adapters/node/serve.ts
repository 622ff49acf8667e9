import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { ConfigurationError, isKeelsonError } from "../../entity/index.ts";
import type { HandlingApp } from "./answer-request.ts";
import { type GracefulOptions, gracefully } from "./gracefully.ts";
import { refuseMalformed, refuseUnfit } from "./refuse-unfit.ts";
import { type NodeHandlerOptions, toNodeHandler } from "./to-node-handler.ts";

/** An app that can be started and stopped. */
export interface ServableApp extends HandlingApp {
  readonly ready: Promise<unknown>;
  close(): Promise<void>;
}

/** Options of `serve`. */
export interface ServeOptions extends Pick<NodeHandlerOptions, "getUser">, GracefulOptions {
  /** The port; 0 selects any free port. @default 3000 */
  readonly port?: number | undefined;
  /** The address to listen on. @default all addresses of the machine */
  readonly hostname?: string | undefined;
}

/** A server that `serve` has started. */
export interface Served {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Stops accepting connections, lets responses in flight finish within the grace period, and closes the app. */
  close(): Promise<void>;
}

/**
 * In milliseconds. Slower headers are refused; idle connections outlive a proxy's 60 s. The app limits the time for a
 * body per route, and sends the response; `requestTimeout` is for requests that the app cannot see.
 */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 3_600_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 65_000,
};

/**
 * Serves an app over node:http, with timeouts and graceful shutdown. Resolves when it is listening, which is after
 * `api.ready`; while the database is unavailable it listens and responds with 503.
 * @throws ConfigurationError when the port is in use or not permitted
 * @example const { url } = await serve(api, { port: 3000 });
 */
export async function serve(api: ServableApp, options: ServeOptions = {}): Promise<Served> {
  const { port = 3000, hostname, getUser, gracePeriod, signals } = options;
  const server = createServer({ ...TIMEOUTS, requireHostHeader: false });
  refuseUnfit(server, toNodeHandler(api, { getUser }));
  // An unavailable database may become available later: until then, the app responds with 503. Any other error prevents
  // the start.
  await api.ready.catch((error: unknown) => {
    if (!isKeelsonError(error) || error.code !== "DATABASE_UNAVAILABLE") throw error;
  });
  const address = await listen(server, port, hostname);
  const { inFlight, close } = gracefully(server, api, { gracePeriod, signals });
  server.on("clientError", (error, socket) => refuseMalformed(error, socket as Socket, inFlight));
  return { ...address, server, close };
}

/**
 * Starts listening, and returns the address.
 * @throws ConfigurationError when the port is in use or not permitted
 */
async function listen(
  server: Server,
  port: number,
  hostname: string | undefined,
): Promise<{ readonly url: string; readonly port: number }> {
  try {
    await once(server.listen(port, hostname), "listening");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const place = `${hostname ?? "*"}:${port}`;
    throw new ConfigurationError(`Cannot listen on ${place} (${code}); choose another port`, { cause });
  }
  const address = server.address() as AddressInfo;
  const host = hostname?.includes(":") ? `[${hostname}]` : (hostname ?? "localhost");
  return { url: `http://${host}:${address.port}`, port: address.port };
}
