import type { Attributes, Context, Span, SpanKind } from "@opentelemetry/api";
import { isKeelsonError } from "../../entity/index.ts";
import { isPromiseLike, type Logger } from "../../kernel/index.ts";

/** The start of a span. */
export interface SpanStart {
  readonly name: string;
  readonly kind?: keyof typeof SpanKind;
  readonly attributes?: Attributes;
  /** @default the active context */
  readonly parent?: Context;
}

/** Creates Keelson's spans with the SDK that the process has registered with OpenTelemetry. */
export interface Spans {
  readonly api: OpenTelemetry;
  /**
   * Runs work in a span that ends with it. For errors, only the code is recorded, because messages may quote the
   * request.
   */
  within<T>(start: SpanStart, work: (span: Span) => T): T;
  /** Runs work in a span that the work must end itself. */
  open<T>(start: SpanStart, work: (span: Span) => T): T;
}

/** Creates spans of the instrumentation scope `keelson`. */
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

/** The code of a Keelson error; the class name of other errors. */
function errorType(error: unknown): string {
  if (isKeelsonError(error)) return error.code;
  return error instanceof Error ? error.constructor.name : typeof error;
}

const PACKAGE = "@opentelemetry/api";

/** The used part of the optional package. */
export type OpenTelemetry = Pick<
  typeof import("@opentelemetry/api"),
  "context" | "metrics" | "propagation" | "ROOT_CONTEXT" | "SpanKind" | "SpanStatusCode" | "trace" | "ValueType"
>;

/** Loads the package. Undefined, with a warning in the log, if it is not installed. */
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
