import type { KernelRequest, KernelResponse } from "../request/messages.ts";

/** What the kernel asks of the service `kernel.tracer`: it sees requests as they begin and end. */
export interface RequestTracer {
  /** A request, up to its answer. */
  request(request: KernelRequest, work: () => Promise<KernelResponse>): Promise<KernelResponse>;
}

type Handle = (request: KernelRequest) => Promise<KernelResponse>;

/** Has requests seen by a tracer, where there is one. */
export function tracedHandle(handle: Handle, tracer: RequestTracer | undefined): Handle {
  return tracer === undefined ? handle : (request) => tracer.request(request, () => handle(request));
}
