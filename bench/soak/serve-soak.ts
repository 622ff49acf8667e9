import { readdirSync } from "node:fs";
import { embedded, type Plugin, postgres } from "keelson";
import { serve } from "keelson/node";
import { createSoakApi } from "./soak-api.ts";

/** What the server's process tells of itself. */
export interface ProcessSample {
  /** Resident set after a collection of garbage, where one can be asked for. */
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** Open file descriptors; absent where /proc does not tell. */
  readonly descriptors?: number;
  /** Connections of clients. */
  readonly connections: number;
  /** What keeps the process alive, by kind. */
  readonly resources: Readonly<Record<string, number>>;
}

/** Connections that a soaked app may open to PostgreSQL. */
export const POOL_SIZE = 10;

function descriptors(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Serves the soaked app from this process, on the database that its first argument names, and tells of itself when asked. */
export async function serveSoak(plugins: readonly Plugin[] = []): Promise<void> {
  const [, , database = ""] = process.argv;
  const isPostgres = database.startsWith("postgres");
  const driver = isPostgres ? postgres(database, { poolSize: POOL_SIZE }) : embedded({ file: database });
  const { port, server } = await serve(createSoakApi(driver, plugins), { port: 0, hostname: "127.0.0.1" });
  process.on("message", () => {
    (globalThis as { gc?: () => void }).gc?.();
    server.getConnections((_, connections) => {
      const { rss, heapUsed } = process.memoryUsage();
      const open = descriptors();
      const sample: ProcessSample = {
        rssBytes: rss,
        heapBytes: heapUsed,
        connections,
        resources: resources(),
        ...(open !== undefined && { descriptors: open }),
      };
      process.send?.({ sample });
    });
  });
  // A server must not outlive a runner that was interrupted.
  process.on("disconnect", () => process.exit());
  process.send?.({ port });
}
