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
  /** 0 takes any free port. @default 3000 */
  readonly port?: number | undefined;
  /** Address to listen on. @default all of the machine's */
  readonly hostname?: string | undefined;
}

/** A server that `serve` has started. */
export interface Served {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Stops accepting, lets responses in flight finish within the grace period, closes the app. */
  close(): Promise<void>;
}

/**
 * Milliseconds. Headers that arrive slower are refused; idle connections outlive a proxy's 60 s. The app limits how
 * long a body may take, per route, and sends the response; this limit is for what the app cannot see.
 */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 3_600_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 65_000,
};

/**
 * Serves an app over node:http, with timeouts set and a graceful end. Resolves when it is listening, which is after
 * `api.ready`; while the database is unavailable it listens and responds with 503.
 * @throws ConfigurationError when the port is taken or may not be used
 * @example const { url } = await serve(api, { port: 3000 });
 */
export async function serve(api: ServableApp, options: ServeOptions = {}): Promise<Served> {
  const { port = 3000, hostname, getUser, gracePeriod, signals } = options;
  const server = createServer({ ...TIMEOUTS, requireHostHeader: false });
  refuseUnfit(server, toNodeHandler(api, { getUser }));
  // An unavailable database comes back, and the app with it: until then it responds with 503. Any other error prevents
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
 * @throws ConfigurationError when the port is taken or may not be used
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
