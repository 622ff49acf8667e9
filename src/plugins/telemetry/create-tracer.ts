import { entityName, type Tracer } from "../../gate/index.ts";
import type { KernelRequest } from "../../kernel/index.ts";
import type { MeasureRequest } from "./measure-requests.ts";
import type { Spans } from "./spans.ts";
import type { TelemetryOptions } from "./telemetry-options.ts";
import { type TracedRequest, traceRequest } from "./trace-request.ts";

/** What a tracer works with, once OpenTelemetry is there. */
export interface Recording {
  readonly spans: Spans;
  readonly measure: MeasureRequest;
}

/** A tracer that makes spans. Until there is something to record with, and without it, it lets all work pass. */
export function createTracer(
  recording: () => Recording | undefined,
  known: WeakMap<KernelRequest, TracedRequest>,
  { phases = true, ids = false }: TelemetryOptions,
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
