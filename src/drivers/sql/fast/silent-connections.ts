import type { Socket } from "node:net";
import type { Pool, PoolClient } from "pg";

/** What a client of `pg` is, past its types. */
interface Connected extends PoolClient {
  readonly readyForQuery: boolean;
}

/**
 * Cuts connections on which nothing is heard of a statement. One that fell silent with its route says nothing, and would be
 * handed out until TCP gives up on it, a quarter of an hour later. The socket's own timer does it: `query_timeout` of `pg`
 * makes one for each query, and what a query has read was kept from being collected for a while by those.
 * @param ms milliseconds of silence
 */
export function giveUpSilent(pool: Pool, ms: number): void {
  pool.on("connect", (client) => {
    const stream = client.connection.stream as Socket;
    stream.setTimeout(ms, () => {
      // Between the statements of a transaction there is nothing to hear.
      if (!(client as Connected).readyForQuery) stream.destroy(new Error("Query read timeout"));
    });
  });
}
