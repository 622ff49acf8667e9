import type { KernelRequest, KernelResponse } from "./messages.ts";

/** A web-standard request as the kernel takes it. The body is not read. */
export function fromWebRequest(request: Request): KernelRequest {
  const { method, url, signal, body } = request;
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const headers = Object.fromEntries(request.headers);
  return {
    method,
    url: start === -1 ? "/" : url.slice(start),
    headers,
    body: body === null ? undefined : { kind: "stream", stream: body as unknown as AsyncIterable<Uint8Array> },
    signal,
    raw: request,
  };
}

/**
 * The kernel's answer as a web-standard response.
 * @param failed hears why a stream failed: whoever reads it may be far away
 */
export function toWebResponse({ status, headers, body }: KernelResponse, failed: (error: unknown) => void): Response {
  const list: [string, string][] = [];
  for (const [name, value] of Object.entries(headers))
    for (const one of typeof value === "string" ? [value] : value) list.push([name, one]);
  // A response that must not have a body refuses even an empty one.
  const bodyless = body === null || status === 204 || status === 205 || status === 304;
  return new Response(bodyless ? null : webBody(body, failed), { status, headers: list });
}

function webBody(
  body: Exclude<KernelResponse["body"], null>,
  failed: (error: unknown) => void,
): string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (typeof body === "string" || body instanceof Uint8Array) return body as string | Uint8Array<ArrayBuffer>;
  const encoder = new TextEncoder();
  const iterator = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
      } catch (error) {
        failed(error);
        throw error;
      }
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
