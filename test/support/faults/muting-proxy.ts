import { connect, createServer, type Socket } from "node:net";

/** A proxy in front of PostgreSQL that disturbs its connections. */
export interface MutingProxy {
  readonly url: string;
  /** Stops all traffic on the open connections; new ones work. */
  mute(): void;
  /** Until the returned function is called, connections end with a server's message as soon as they are idle. */
  endIdle(): () => void;
  /** Number of connections opened so far. */
  opened(): number;
  close(): Promise<void>;
}

/** The end of a server's data when a connection waits for a query: message "Z" with status "I". */
const READY = Buffer.from("5a0000000549", "hex");
const FIELDS = Buffer.from("SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0");
/** What PostgreSQL sends when an administrator ends the connection. */
const TERMINATED = Buffer.concat([Buffer.from([0x45, 0, 0, 0, FIELDS.length + 4]), FIELDS]);

/** @param target connection string of the server */
export async function mutingProxy(target: string): Promise<MutingProxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<readonly [Socket, Socket]>();
  let opened = 0;
  let endsIdle = false;
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
    }
    outer.pipe(inner);
    inner.on("data", (data) => {
      // One write, so that the client reads both messages together.
      if (endsIdle && data.subarray(-READY.length).equals(READY)) outer.end(Buffer.concat([data, TERMINATED]));
      else outer.write(data);
    });
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
        inner.removeAllListeners("data").resume();
      }
    },
    endIdle() {
      endsIdle = true;
      return () => {
        endsIdle = false;
      };
    },
    opened: () => opened,
    async close() {
      for (const [outer] of pairs) outer.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
