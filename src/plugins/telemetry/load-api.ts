import type { Logger } from "../../kernel/index.ts";

const PACKAGE = "@opentelemetry/api";

/** What is used of the optional package. */
export type OpenTelemetry = Pick<
  typeof import("@opentelemetry/api"),
  "context" | "metrics" | "propagation" | "ROOT_CONTEXT" | "SpanKind" | "SpanStatusCode" | "trace" | "ValueType"
>;

/** The package; undefined, which is said in the log, where it is not installed: an app runs as well without being watched. */
export async function loadApi(
  log: Logger,
  load: () => Promise<OpenTelemetry> = () => import("@opentelemetry/api"),
): Promise<OpenTelemetry | undefined> {
  try {
    return await load();
  } catch {
    log.warn(`telemetry() records nothing without "${PACKAGE}". Run: npm i ${PACKAGE}`);
    return undefined;
  }
}
