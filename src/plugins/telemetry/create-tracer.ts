import { type Driver, entityName, entityOf, type Middleware, type Tracer, withMiddleware } from "../../gate/index.ts";
import type { KernelRequest } from "../../kernel/index.ts";
import type { Spans } from "./spans.ts";
import { type MeasureRequest, type TracedRequest, traceRequest } from "./trace-request.ts";

/** Spans and metrics, once OpenTelemetry is loaded. */
export interface Recording {
  readonly spans: Spans;
  readonly measure: MeasureRequest;
}

/** Creates a tracer. Without OpenTelemetry, or before it is loaded, it only runs the work. */
export function createTracer(
  recording: () => Recording | undefined,
  known: WeakMap<KernelRequest, TracedRequest>,
  { phases, ids }: { readonly phases: boolean; readonly ids: boolean },
): Tracer {
  const id = (name: string, value: string | undefined) => (ids && value !== undefined ? { [name]: value } : {});
  return Object.freeze<Tracer>({
    request(request, work) {
      const found = recording();
      return found === undefined ? work() : traceRequest(found.spans, request, work, known, found.measure);
    },
    operation(input, work) {
      const spans = recording()?.spans;
      if (spans === undefined) return work();
      const { kind } = input;
      const entity = entityName(input.entity);
      const attributes = { "keelson.operation": kind, "keelson.entity": entity, ...id("keelson.record.id", input.id) };
      return spans.within({ name: `${kind} ${entity}`, attributes }, work);
    },
    hook({ name, plugin }, work) {
      const spans = phases ? recording()?.spans : undefined;
      return spans === undefined ? work() : spans.within({ name, attributes: { "keelson.plugin": plugin } }, work);
    },
    remote({ service, entity }, work) {
      const spans = recording()?.spans;
      if (spans === undefined) return work({});
      const attributes = { "keelson.service": service, "keelson.entity": entity };
      return spans.within({ name: `fetch ${entity}`, kind: "CLIENT", attributes }, () => {
        const headers: Record<string, string> = {};
        spans.api.propagation.inject(spans.api.context.active(), headers);
        return work(headers);
      });
    },
    workflow({ name, runId }, work) {
      const attributes = { "keelson.workflow": name, ...id("keelson.workflow.run_id", runId) };
      return recording()?.spans.within({ name: `workflow ${name}`, attributes }, work) ?? work();
    },
    step({ step, phase, attempt }, work) {
      const attributes = { "keelson.step": step, "keelson.step.phase": phase, "keelson.step.attempt": attempt };
      return recording()?.spans.within({ name: `${phase} ${step}`, attributes }, work) ?? work();
    },
  });
}

/** Database names of the semantic conventions, by Keelson's driver names. */
const SYSTEMS: Readonly<Record<string, string>> = {
  postgres: "postgresql",
  embedded: "sqlite",
  prisma: "other_sql",
};

/**
 * A driver with a span for each statement and transaction. Spans name the operation and the entity, and contain no
 * values.
 */
export function tracedDriver(driver: Driver, spans: () => Spans | undefined): Driver {
  function seen<T>(operation: string, collection: string | undefined, work: () => Promise<T>): Promise<T> {
    const known = spans();
    if (known === undefined) return work();
    const attributes = {
      "db.system.name": SYSTEMS[driver.name] ?? driver.name,
      "db.operation.name": operation,
      ...(collection && { "db.collection.name": collection }),
    };
    const name = collection === undefined ? operation : `${operation} ${collection}`;
    return known.within({ name, kind: "CLIENT", attributes }, work);
  }
  const middleware: Middleware = (statement, next) =>
    seen(statement.kind, entityOf(statement).name, () => next(statement));
  return withMiddleware(driver, middleware, {
    joins: true,
    transaction: (work, options) =>
      seen("transaction", undefined, () =>
        driver.transaction((inner) => work(withMiddleware(inner, middleware, { joins: true }).execute), options),
      ),
  });
}
