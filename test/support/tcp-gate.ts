import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy in front of a server: while it is closed, it refuses connections and ends the open ones. */
export interface Gate {
  /** The server's address through the gate. */
  readonly url: string;
  open(): Promise<void>;
  close(): Promise<void>;
}

/** A gate in front of the server of a connection string, initially closed. */
export async function gateTo(target: string): Promise<Gate> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let server: Server | undefined;

  async function listen(at: number): Promise<number> {
    server = createServer((socket) => {
      const inner = connect(Number(port || 5432), hostname);
      for (const [one, other] of [
        [socket, inner],
        [inner, socket],
      ] as const) {
        sockets.add(one);
        one.on("error", () => other.destroy());
        one.on("close", () => sockets.delete(one));
        one.pipe(other);
      }
    });
    await new Promise<void>((resolve) => server?.listen(at, "127.0.0.1", resolve));
    return (server.address() as { port: number }).port;
  }

  async function close(): Promise<void> {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server?.close(resolve));
  }

  const own = await listen(0);
  await close();
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String(own);
  return { url: url.href, open: async () => void (await listen(own)), close };
}
