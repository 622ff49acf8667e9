import { connect, createServer, type Socket } from "node:net";

/** A proxy in front of a server that can silence its connections without closing them, like a lost route. */
export interface MutingProxy {
  readonly url: string;
  /** Stops all traffic on the open connections; new ones work. */
  mute(): void;
  /** Number of connections opened so far. */
  opened(): number;
  close(): Promise<void>;
}

/** @param target connection string of the server */
export async function mutingProxy(target: string): Promise<MutingProxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<readonly [Socket, Socket]>();
  let opened = 0;
  const server = createServer((outer) => {
    opened += 1;
    const inner = connect(Number(port || 5432), hostname);
    const pair = [outer, inner] as const;
    pairs.add(pair);
    for (const [one, other] of [pair, [inner, outer] as const]) {
      one.on("error", () => {});
      one.on("close", () => {
        pairs.delete(pair);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    mute() {
      for (const [outer, inner] of pairs) {
        outer.unpipe(inner).resume();
        inner.unpipe(outer).resume();
      }
    },
    opened: () => opened,
    async close() {
      for (const [outer] of pairs) outer.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
