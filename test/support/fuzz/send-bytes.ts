import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { WaitsForClient } from "./watch-servers.ts";

/** After this many milliseconds, a server that has neither answered nor closed counts as hanging. */
const PATIENCE = 30_000;

export interface SendOptions {
  /** The number of pieces in which the bytes arrive. */
  readonly packets: number;
  /**
   * Resolves when the server is idle and waits for the client. Then the connection is ended, for requests whose end the server
   * cannot detect. @default only the server ends the connection
   */
  readonly waits?: WaitsForClient | undefined;
}

/** Sends bytes unchanged; returns everything that arrives until the server closes the connection. */
export async function sendBytes(port: number, bytes: Buffer, { packets, waits }: SendOptions): Promise<Buffer> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const chunks: Buffer[] = [];
  let isClosed = false;
  const closed = new Promise<void>((resolve, reject) => {
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    // A server that has answered and closed resets a client that still sends; its response counts.
    socket.on("error", () => {});
    socket.on("close", () => {
      isClosed = true;
      resolve();
    });
    socket.setTimeout(PATIENCE, () => reject(new Error("the server neither answers nor closes the connection")));
  });
  await once(socket, "connect");
  const size = Math.ceil(bytes.length / packets);
  for (let at = 0; at < bytes.length; at += size) {
    if (at > 0) await nextTurn();
    if (socket.writable && !socket.write(bytes.subarray(at, at + size)))
      await Promise.race([once(socket, "drain"), closed]);
  }
  if (waits !== undefined) {
    const { localPort = 0 } = socket;
    while (!isClosed && !waits(localPort, bytes.length)) await delay(1);
    socket.end();
  }
  try {
    await closed;
  } finally {
    socket.destroy();
  }
  return Buffer.concat(chunks);
}
