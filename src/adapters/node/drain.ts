import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";

/**
 * Closes a server gracefully: refuses new connections, closes idle ones, lets the answers in flight finish and closes
 * each connection after its answer; what is left after `gracePeriod` milliseconds is cut.
 */
export async function drain(server: Server, inFlight: Iterable<ServerResponse>, gracePeriod: number): Promise<void> {
  const closed = once(server, "close");
  server.close();
  // Only the last answer of a connection may close it: pipelined ones wait behind each other.
  const last = new Map(Array.from(inFlight, (outgoing) => [outgoing.req.socket, outgoing]));
  for (const outgoing of last.values()) outgoing.shouldKeepAlive = false;
  // Requests whose bytes are here already, but not read yet, still count as in flight.
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

/** Not `once` of events, which an error would end with. */
function closing(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => outgoing.once("close", resolve));
}
