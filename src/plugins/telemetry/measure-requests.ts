import type { Attributes } from "@opentelemetry/api";
import type { OpenTelemetry } from "./load-api.ts";

/** Notes how long a request took, in seconds. */
export type MeasureRequest = (seconds: number, attributes: Attributes) => void;

/** Bucket boundaries that the semantic conventions ask for, in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** The histogram `http.server.request.duration` of the semantic conventions. */
export function measureRequests({ metrics, ValueType }: OpenTelemetry, version: string): MeasureRequest {
  const histogram = metrics.getMeter("keelson", version).createHistogram("http.server.request.duration", {
    description: "Duration of HTTP server requests.",
    unit: "s",
    valueType: ValueType.DOUBLE,
    advice: { explicitBucketBoundaries: BUCKETS },
  });
  return (seconds, attributes) => histogram.record(seconds, attributes);
}
