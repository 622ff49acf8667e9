import type { DriverContext } from "../../../gate/index.ts";

/** The part of a pool of the package `pg` that hands out connections. */
interface LosingPool {
  on(event: "acquire", listener: (client: LosingClient) => void): unknown;
}
interface LosingClient {
  on(event: "error", listener: (error: Error & { readonly code?: unknown }) => void): unknown;
}

/**
 * Logs connections that break while they run no query; the pool replaces them. A pool removes its own listener before
 * the code that asked for a connection can add one. Without a listener in between, Node ends the process.
 */
export function logLostConnections(pool: LosingPool | undefined, log: DriverContext["log"]): void {
  const known = new WeakSet<LosingClient>();
  pool?.on("acquire", (client) => {
    if (known.has(client)) return;
    known.add(client);
    client.on("error", ({ code }) => log.warn("A database connection was lost", { code }));
  });
}

/** The pool of Prisma's adapter for the package `pg`. */
export function poolOf(adapter: object): LosingPool | undefined {
  return (adapter as { underlyingDriver?(): LosingPool }).underlyingDriver?.();
}
