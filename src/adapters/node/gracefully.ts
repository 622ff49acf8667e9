import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { InFlight } from "../../kernel/index.ts";
import { onSignal } from "./on-signal.ts";

/** Options of `gracefully`. */
export interface GracefulOptions {
  /** Milliseconds that responses in flight have to finish when the server closes. @default 10000 */
  readonly gracePeriod?: number | undefined;
  /**
   * Whether to close on SIGTERM and SIGINT and exit with code 0; a second signal exits immediately with 1. @default
   * true
   */
  readonly signals?: boolean | undefined;
}

/** The graceful shutdown of a server. */
export interface Graceful {
  /** Unfinished responses, oldest first, including those of the host's own routes. */
  readonly inFlight: Iterable<ServerResponse>;
  /** Stops accepting connections, lets responses in flight finish within the grace period, and closes the app. */
  close(): Promise<void>;
}

/** Milliseconds that the app has to close after the grace period before a signal ends the process anyway. */
const CLOSE_MS = 5_000;

/**
 * Adds the graceful shutdown of `serve` to a host's own server: on SIGTERM it accepts no new connections, finishes the
 * requests in flight, including exports, closes the app, and exits with code 0. Call it before the first request. The
 * host must end upgraded connections, such as WebSockets: the server is not closed until then.
 * @example gracefully(app.listen(3000), api); // Express, and any other server of node:http or node:https
 */
export function gracefully(
  server: Server,
  api: { close(): Promise<void> },
  { gracePeriod = 10_000, signals = true }: GracefulOptions = {},
): Graceful {
  const inFlight = new InFlight<ServerResponse>();
  // Must be the first listener, because a host may have responded by the time the next one runs.
  server.prependListener("request", (_incoming, outgoing) => {
    const place = inFlight.enter(outgoing);
    outgoing.once("close", () => inFlight.leave(place));
    if (!server.listening) outgoing.shouldKeepAlive = false;
  });
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
  return { inFlight, close };
}

/**
 * Closes a server gracefully: refuses new connections, closes idle ones, lets responses in flight finish and closes
 * each connection after its response. Remaining connections are closed after `gracePeriod` milliseconds.
 */
async function drain(server: Server, inFlight: Iterable<ServerResponse>, gracePeriod: number): Promise<void> {
  const closed = once(server, "close");
  server.close();
  // Only the last response of a connection may close it: pipelined responses wait for each other.
  const last = new Map(Array.from(inFlight, (outgoing) => [outgoing.req.socket, outgoing]));
  for (const outgoing of last.values()) outgoing.shouldKeepAlive = false;
  // Requests whose bytes have arrived, but have not been read, still count as in flight.
  for (let turn = 0; turn < 2; turn++) await nextTurn();
  const deadline = new AbortController();
  const patience = delay(gracePeriod, undefined, { signal: deadline.signal }).catch(() => {});
  const quiet = (async () => {
    for (let [oldest] = inFlight; oldest !== undefined; [oldest] = inFlight) await closing(oldest);
  })();
  await Promise.race([quiet, patience]);
  deadline.abort();
  server.closeAllConnections();
  await closed;
}

/** Unlike `once` of node:events, it does not reject on an error. */
function closing(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => outgoing.once("close", resolve));
}
