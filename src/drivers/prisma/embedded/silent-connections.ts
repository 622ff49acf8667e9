import type { Socket } from "node:net";
import type { Pool } from "pg";

/**
 * Cuts connections on which nothing is heard of a statement. One that fell silent with its route says nothing, and would be
 * handed out until TCP gives up on it, a quarter of an hour later. `query_timeout` of `pg` would give up the statement alone, and
 * the connection of a transaction would go back to the pool.
 * @param ms milliseconds of silence
 */
export function giveUpSilent(pool: Pool, ms: number): void {
  pool.on("connect", (client) => {
    const stream = client.connection.stream as Socket;
    // Bytes that were sent when all statements had been answered: between those of a transaction there is nothing to hear.
    let answered = stream.bytesWritten;
    client.on("drain", () => {
      answered = stream.bytesWritten;
    });
    stream.setTimeout(ms);
    // Not as an argument above: that one would be called once, and silence may come again.
    stream.on("timeout", () => {
      const isAsking = stream.bytesWritten > answered && !stream.writableEnded;
      if (isAsking) stream.destroy(new Error("Query read timeout"));
    });
  });
}
