import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy that can be shut: connections are cut and new ones refused, as when the server behind it is gone. */
export interface TcpGate {
  readonly port: number;
  shut(): Promise<void>;
  open(): Promise<void>;
}

/** Stands between a client and a server on this machine. */
export async function openTcpGate(target: { readonly host: string; readonly port: number }): Promise<TcpGate> {
  let server: Server | undefined;
  let port = 0;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
  };
  const open = async (): Promise<void> => {
    const listening = createServer((inner) => {
      const outer = connect(target);
      for (const socket of [inner, outer]) keep(socket);
      inner.pipe(outer).pipe(inner);
    });
    await new Promise<void>((resolve) => listening.listen(port, "127.0.0.1", resolve));
    port = (listening.address() as AddressInfo).port;
    server = listening;
  };
  await open();
  return {
    get port() {
      return port;
    },
    open,
    async shut() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
      server = undefined;
    },
  };
}
