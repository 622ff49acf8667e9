// health: endpoints that tell a load balancer or an orchestrator whether the process lives (/health/live) and whether it
// can answer (/health/ready). Not part of the specification; they say nothing but a status.
import type { RouteDescription } from "../../gate/index.ts";
import { createPlugin, endpoint, type Plugin } from "../../gate/index.ts";
import { unknownKeys } from "../../kernel/index.ts";
import { createReadiness } from "./readiness.ts";

/** Options of `health`. */
export interface HealthOptions {
  /** Milliseconds an answer of the database is trusted for, so that probes do not become load. @default 1000 */
  readonly cacheMs?: number;
  /** Milliseconds the database has to answer. @default 2000 */
  readonly timeoutMs?: number;
}

/** `GET /health/live` and `GET /health/ready`, open to everyone. */
export function health(options: HealthOptions = {}): Plugin {
  const ready = createReadiness(options.cacheMs ?? 1_000, options.timeoutMs ?? 2_000);
  return createPlugin({
    id: "health",
    version: "1.0.0",
    requires: ["rules"],
    setup({ problem }) {
      for (const sentence of unknownKeys(options, ["cacheMs", "timeoutMs"])) problem(`health: ${sentence}`);
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
