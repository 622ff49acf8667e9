import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Whether the server at the other end of a connection has read this many bytes and is idle, waiting for more.
 * @param port of the client's end
 */
export type WaitsForClient = (port: number, bytes: number) => boolean;

/** Tracks what the servers of this process are working on. */
export function watchServers(servers: readonly Server[]): WaitsForClient {
  const sockets = new Map<number, Socket>();
  const inFlight = new Set<IncomingMessage>();
  const open = (socket: Socket): void => {
    const port = socket.remotePort as number;
    sockets.set(port, socket);
    socket.once("close", () => sockets.delete(port));
  };
  const begin = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    inFlight.add(incoming);
    outgoing.once("close", () => inFlight.delete(incoming));
  };
  for (const server of servers) server.prependListener("connection", open).prependListener("request", begin);
  return (port, bytes) => {
    const socket = sockets.get(port);
    if (socket === undefined || socket.bytesRead < bytes) return false;
    return ![...inFlight].some(({ complete, socket: on }) => complete && on === socket);
  };
}
