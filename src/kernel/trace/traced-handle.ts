import type { KernelRequest, KernelResponse } from "../http/messages.ts";
import type { Tracer } from "../ports/tracer.ts";

type Handle = (request: KernelRequest) => Promise<KernelResponse>;

/** Has requests seen by a tracer, where there is one. */
export function tracedHandle(handle: Handle, tracer: Tracer | undefined): Handle {
  return tracer === undefined ? handle : (request) => tracer.request(request, () => handle(request));
}
