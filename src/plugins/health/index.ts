// health: endpoints for load balancers and orchestrators, which show whether the process is alive (/health/live) and
// whether it can serve requests (/health/ready). Not part of the specification. They only return a status.
import { createPlugin, type Driver, endpoint, type Plugin, type RouteDescription } from "../../gate/index.ts";
import { DatabaseUnavailableError, unknownKeys } from "../../kernel/index.ts";

// No hooks, no services.

/** Options of `health`. */
export interface HealthOptions {
  /** Milliseconds for which a database check is reused, so that probes cause little load. @default 1000 */
  readonly cacheMs?: number;
  /** Time limit of a database check in milliseconds. @default 2000 */
  readonly timeoutMs?: number;
}

const KNOWN: Readonly<Record<keyof HealthOptions, true>> = { cacheMs: true, timeoutMs: true };

/** Adds `GET /health/live` and `GET /health/ready`, open to everyone. */
export function health(options: HealthOptions = {}): Plugin {
  const ready = createReadiness(options.cacheMs ?? 1_000, options.timeoutMs ?? 2_000);
  return createPlugin({
    id: "health",
    version: "1.0.0",
    requires: ["rules"],
    setup({ problem }) {
      for (const sentence of unknownKeys(options, Object.keys(KNOWN))) problem(`health: ${sentence}`);
    },
    endpoints: {
      live: endpoint("/health/live", {
        method: "GET",
        rules: ["everyone"],
        early: true,
        describe: says("Tell whether the process lives"),
        handler: () => OK,
      }),
      ready: endpoint("/health/ready", {
        method: "GET",
        rules: ["everyone"],
        describe: says("Tell whether requests can be answered"),
        async handler({ scope }) {
          await ready(scope.driver);
          return OK;
        },
      }),
    },
  });
}

const OK = Object.freeze({ status: "ok" });
const STATUS = Object.freeze({ type: "object", required: ["status"], properties: { status: { const: "ok" } } });

function says(summary: string): () => RouteDescription {
  const answers = { 200: { description: "All is well.", content: { "application/json": STATUS } } };
  return () => ({ summary, answers });
}

/** Resolves if the database responded recently; rejects with DatabaseUnavailableError (503) if it did not. */
type Readiness = (driver: Driver) => Promise<void>;

/**
 * Checks the database at most once per `cacheMs`, and once at a time, independent of the number of probes. No response
 * within `timeoutMs` counts as a failure, so that a lost check does not keep the app from becoming ready again.
 */
function createReadiness(cacheMs: number, timeoutMs: number): Readiness {
  let pending: Promise<void> | undefined;
  let last: { readonly until: number; readonly error: DatabaseUnavailableError | undefined } | undefined;

  const ask = async (driver: Driver): Promise<void> => {
    let error: DatabaseUnavailableError | undefined;
    try {
      await within(driver.ping(), timeoutMs);
    } catch (cause) {
      error = new DatabaseUnavailableError(undefined, { cause });
    }
    last = { until: performance.now() + cacheMs, error };
    pending = undefined;
    if (error !== undefined) throw error;
  };

  return async (driver) => {
    if (last !== undefined && performance.now() < last.until) {
      if (last.error !== undefined) throw last.error;
      return;
    }
    pending ??= ask(driver);
    await pending;
  };
}

async function within(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DatabaseUnavailableError()), ms);
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
