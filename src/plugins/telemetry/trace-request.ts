import type { Attributes, Span, TextMapGetter } from "@opentelemetry/api";
import type { Route } from "../../gate/index.ts";
import { endWith, type KernelRequest, type KernelResponse } from "../../kernel/index.ts";
import type { OpenTelemetry, Spans } from "./spans.ts";

/**
 * Known methods. Others are recorded as `_OTHER`, to limit the number of time series (semantic conventions,
 * `http.request.method`).
 */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY"]);

const HEADERS: TextMapGetter<KernelRequest["headers"]> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) => headers[name.toLowerCase()] as string | string[] | undefined,
};

/** A request in progress. */
export interface TracedRequest {
  readonly span: Span;
  /** The pattern of its route; undefined until a route matches. */
  route: string | undefined;
}

/** The pattern of a route's full path. */
export function patternOf({ inApi, path }: Route, base: string | undefined, apiPrefix: string): string {
  return (base ?? (inApi ? apiPrefix : "")) + path;
}

/**
 * Records a request as one span, up to the last byte of its response. The span belongs to the host's active span, or to
 * the trace in the request's headers. It contains the pattern of the route, but neither path nor query.
 */
export async function traceRequest(
  { api, open }: Spans,
  request: KernelRequest,
  work: () => Promise<KernelResponse>,
  known: WeakMap<KernelRequest, TracedRequest>,
  measure: MeasureRequest,
): Promise<KernelResponse> {
  const { context, propagation, trace, SpanStatusCode } = api;
  const active = context.active();
  const isWithin = trace.getSpan(active) !== undefined;
  const parent = isWithin ? active : propagation.extract(active, request.headers, HEADERS);
  const isKnown = METHODS.has(request.method);
  const method: Attributes = { "http.request.method": isKnown ? request.method : "_OTHER" };
  const name = isKnown ? request.method : "HTTP";
  const began = performance.now();
  return open({ name, kind: isWithin ? "INTERNAL" : "SERVER", attributes: method, parent }, async (span) => {
    const traced: TracedRequest = { span, route: undefined };
    known.set(request, traced);
    const response = await work(); // never rejects
    const { status } = response;
    const { route } = traced;
    if (route !== undefined) span.updateName(`${name} ${route}`);
    const end = (): undefined => {
      const found: Attributes = { "http.response.status_code": status, ...(route && { "http.route": route }) };
      if (status >= 500) found["error.type"] = String(status);
      span.setAttributes(found);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      measure((performance.now() - began) / 1_000, { ...method, ...found });
    };
    const { body } = response;
    if (body === null || typeof body === "string" || body instanceof Uint8Array) end();
    else
      response.body = endWith(
        readWithin(
          body,
          context.bind(context.active(), (step) => step()),
        ),
        async () => end(),
      );
    return response;
  });
}

/** Runs the steps of a stream in the context in which it was created; its reader runs in another one. */
function readWithin<T>(
  body: AsyncIterable<T>,
  run: (step: () => Promise<IteratorResult<T>>) => Promise<IteratorResult<T>>,
): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = body[Symbol.asyncIterator]();
      const nothing: IteratorResult<T> = { done: true, value: undefined };
      return {
        next: () => run(() => iterator.next()),
        return: () => run(async () => (await iterator.return?.()) ?? nothing),
      };
    },
  };
}

/** Records the duration of a request in seconds. */
export type MeasureRequest = (seconds: number, attributes: Attributes) => void;

/** Bucket boundaries of the semantic conventions, in seconds. */
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
