import type { Attributes, Context, Span, SpanKind } from "@opentelemetry/api";
import { isKeelsonError } from "../../entity/index.ts";
import { isPromiseLike, type Logger } from "../../kernel/index.ts";

/** What a span begins with. */
export interface SpanStart {
  readonly name: string;
  readonly kind?: keyof typeof SpanKind;
  readonly attributes?: Attributes;
  /** @default what is active */
  readonly parent?: Context;
}

/** Spans of this package, through whatever the process has registered with OpenTelemetry. */
export interface Spans {
  readonly api: OpenTelemetry;
  /**
   * Runs work within a span that ends with it. A failure is recorded by its code alone, because messages may quote the
   * request.
   */
  within<T>(start: SpanStart, work: (span: Span) => T): T;
  /** Runs work within a span that the work itself has to end. */
  open<T>(start: SpanStart, work: (span: Span) => T): T;
}

/** Spans that say where they are from. */
export function createSpans(api: OpenTelemetry, version: string): Spans {
  const tracer = api.trace.getTracer("keelson", version);

  function open<T>({ name, kind = "INTERNAL", attributes = {}, parent }: SpanStart, work: (span: Span) => T): T {
    const { context, SpanKind: kinds, trace } = api;
    const outer = parent ?? context.active();
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, outer);
    return context.with(trace.setSpan(outer, span), work, undefined, span);
  }

  function fail(span: Span, error: unknown): void {
    span.setAttribute("error.type", errorType(error));
    if (!isKeelsonError(error) || error.status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
    span.end();
  }

  function within<T>(start: SpanStart, work: (span: Span) => T): T {
    return open(start, (span) => {
      let result: T;
      try {
        result = work(span);
      } catch (error) {
        fail(span, error);
        throw error;
      }
      if (!isPromiseLike(result)) {
        span.end();
        return result;
      }
      const ended = Promise.resolve(result).then(
        (value) => {
          span.end();
          return value;
        },
        (error: unknown) => {
          fail(span, error);
          throw error;
        },
      );
      return ended as T;
    });
  }

  return { api, within, open };
}

/** The code of a Keelson error, the class name of any other error. */
function errorType(error: unknown): string {
  if (isKeelsonError(error)) return error.code;
  return error instanceof Error ? error.constructor.name : typeof error;
}

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
