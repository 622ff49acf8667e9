import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

/** A span with its children, in the order in which they began. */
export interface SpanTree {
  readonly name: string;
  readonly within: readonly SpanTree[];
}

/** Registers an SDK in this process that keeps all spans. */
export function recordSpans() {
  const exporter = new InMemorySpanExporter();
  const started: string[] = []; // clocks are too coarse to order spans
  const noting: SpanProcessor = {
    onStart: (span) => void started.push(span.spanContext().spanId),
    onEnd() {},
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const provider = new NodeTracerProvider({ spanProcessors: [noting, new SimpleSpanProcessor(exporter)] });
  provider.register();
  const spans = (): ReadableSpan[] => exporter.getFinishedSpans();
  const named = (name: string): ReadableSpan[] => spans().filter((span) => span.name === name);
  const childrenOf = (id: string | undefined): SpanTree[] =>
    spans()
      .filter(({ parentSpanContext }) => parentSpanContext?.spanId === id)
      .sort((a, b) => started.indexOf(a.spanContext().spanId) - started.indexOf(b.spanContext().spanId))
      .map((span) => ({ name: span.name, within: childrenOf(span.spanContext().spanId) }));
  return {
    spans,
    named,
    /** The only span of a name, with its children. */
    tree(name: string): SpanTree {
      const [span, ...others] = named(name);
      if (span === undefined || others.length > 0) throw new Error(`${others.length + 1} spans "${name}"`);
      return { name, within: childrenOf(span.spanContext().spanId) };
    },
    /** All attributes and events of the spans, as text. */
    text: (): string =>
      JSON.stringify(
        spans().map(({ name, attributes, events, links, status }) => ({ name, attributes, events, links, status })),
      ),
    reset: () => exporter.reset(),
    shutdown: () => provider.shutdown(),
  };
}

/** A tree as lines, indented. */
export function outline({ name, within }: SpanTree, indent = ""): string[] {
  return [`${indent}${name}`, ...within.flatMap((inner) => outline(inner, `${indent}  `))];
}
