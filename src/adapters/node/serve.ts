import { createServer, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isKeelsonError } from "../../entity/index.ts";
import type { HandlingApp } from "./answer.ts";
import { drain } from "./drain.ts";
import { listen } from "./listen.ts";
import { onSignal } from "./on-signal.ts";
import { refuseMalformed } from "./refuse-malformed.ts";
import { type NodeHandlerOptions, toNodeHandler } from "./to-node-handler.ts";

/** An app that can be started and stopped. */
export interface ServableApp extends HandlingApp {
  readonly ready: Promise<unknown>;
  close(): Promise<void>;
}

export interface ServeOptions extends Pick<NodeHandlerOptions, "getUser"> {
  /** 0 takes any free port. @default 3000 */
  readonly port?: number | undefined;
  /** Address to listen on. @default all of the machine's */
  readonly hostname?: string | undefined;
  /** Milliseconds that answers in flight get to finish when the server closes. @default 10000 */
  readonly gracePeriod?: number | undefined;
  /** Close on SIGTERM and SIGINT and end the process with code 0; a second signal ends it at once with 1. @default true */
  readonly signals?: boolean | undefined;
}

export interface Served {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Stops accepting, lets answers in flight finish within the grace period, closes the app. */
  close(): Promise<void>;
}

/**
 * Milliseconds. Headers that arrive slower are refused; idle connections outlive a proxy's 60 s. How long a body may take
 * is for the app to say, which gives each route its time and answers then; the limit here is for what it cannot see.
 */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 3_600_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 65_000,
};

/** Milliseconds that the app gets to close after the grace period before a signal ends the process anyway. */
const CLOSE_MS = 5_000;

/**
 * Serves an app over node:http, with timeouts set and a graceful end (public-api.md, "Adapters").
 * Resolves when it is listening, which is after `api.ready`; while the database is away it listens and answers 503.
 * @throws ConfigurationError when the port is taken or may not be used
 * @example const { url } = await serve(api, { port: 3000 });
 */
export async function serve(api: ServableApp, options: ServeOptions = {}): Promise<Served> {
  const { port = 3000, hostname, gracePeriod = 10_000, getUser, signals = true } = options;
  const handler = toNodeHandler(api, { getUser });
  const inFlight = new Set<ServerResponse>();
  function settled(this: ServerResponse): void {
    inFlight.delete(this);
  }
  const server = createServer(TIMEOUTS, (incoming, outgoing) => {
    inFlight.add(outgoing);
    outgoing.on("close", settled);
    if (!server.listening) outgoing.shouldKeepAlive = false;
    handler(incoming, outgoing);
  });
  server.on("clientError", (error, socket) => refuseMalformed(error, socket as Socket, inFlight));

  // A database that is away comes back, and the app with it: until then it answers 503. Nothing else may be served.
  await api.ready.catch((error: unknown) => {
    if (!isKeelsonError(error) || error.code !== "DATABASE_UNAVAILABLE") throw error;
  });
  const address = await listen(server, port, hostname);
  const shutDown = async () => {
    await drain(server, inFlight, gracePeriod);
    await api.close();
  };
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= shutDown().finally(() => ignoreSignals?.());
    return closing;
  };
  const ignoreSignals = signals ? onSignal(close, gracePeriod + CLOSE_MS) : undefined;
  return { ...address, server, close };
}
