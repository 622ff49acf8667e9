import type { RequestTracer } from "../../kernel/index.ts";
import type { Operation, OperationInput } from "./operation.ts";

/** A step of a workflow, or its compensation, that is tried. */
export interface TracedStep {
  readonly step: string;
  readonly phase: "execute" | "compensate";
  /** From 1. */
  readonly attempt: number;
}

/**
 * The service `kernel.tracer`: sees the parts of an app's work as they begin and end, each within the one that began it. Every
 * method runs the work that it is given, once, and gives what that gives. An app without such a service pays nothing.
 */
export interface Tracer extends RequestTracer {
  /** An operation, through all its phases. */
  operation(input: OperationInput, work: () => Promise<Operation>): Promise<Operation>;
  /** A function of a hook, at one operation. */
  hook<T>(hook: { readonly name: string; readonly plugin: string }, work: () => T): T;
  /** A call of a remote service. The headers tell the other side which trace it is part of. */
  remote<T>(
    call: { readonly service: string; readonly entity: string },
    work: (headers: Readonly<Record<string, string>>) => Promise<T>,
  ): Promise<T>;
  /** A run of a workflow. */
  workflow<T>(workflow: { readonly name: string; readonly runId: string }, work: () => Promise<T>): Promise<T>;
  /** One try of a step. */
  step<T>(step: TracedStep, work: () => Promise<T>): Promise<T>;
}

/** The app's tracer, if it has one. */
export function tracerOf(services: { has(id: string): boolean; resolve(id: string): unknown }): Tracer | undefined {
  return services.has("kernel.tracer") ? (services.resolve("kernel.tracer") as Tracer) : undefined;
}
