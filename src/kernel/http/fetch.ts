import { InternalError } from "../errors/errors.ts";
import { cancelBody } from "./cancel-body.ts";
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
 * @param failed hears why a stream failed, unless the client has gone: whoever reads it may be far away
 * @throws TypeError for an answer that cannot be written, such as one with a line break in a header
 */
export function toWebResponse(
  { status, headers, body }: KernelResponse,
  request: Pick<KernelRequest, "method" | "signal">,
  failed: (error: unknown) => void,
): Response {
  // Not a plain list: hosts may look at the values only after we have returned, when nobody hears of a bad one.
  const list = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const one of typeof value === "string" ? [value] : value) list.append(name, one);
  const bodyless = status === 204 || status === 205 || status === 304;
  if (typeof body === "string") list.set("content-length", String(Buffer.byteLength(body)));
  else if (body instanceof Uint8Array) list.set("content-length", String(body.byteLength));
  else if (body === null && !bodyless && request.method !== "HEAD" && !list.has("content-length"))
    list.set("content-length", "0");
  if (bodyless) void cancelBody({ body });
  return new Response(body === null || bodyless ? null : webBody(body, request, failed), { status, headers: list });
}

/** Streams are pulled, one chunk when the last one is on its way, and not begun before somebody reads. */
function webBody(
  body: Exclude<KernelResponse["body"], null>,
  request: Pick<KernelRequest, "method" | "signal">,
  failed: (error: unknown) => void,
): string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (typeof body === "string" || body instanceof Uint8Array) return body as string | Uint8Array<ArrayBuffer>;
  const encoder = new TextEncoder();
  const iterator = body[Symbol.asyncIterator]();
  let isBegun = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const { signal } = request;
        // Once they have begun to read, hosts cancel what nobody wants; before that, some such as Next just forget it.
        const leave = () => {
          if (isBegun) return;
          controller.error(signal?.reason);
          void iterator.return?.().catch(() => {});
        };
        if (signal?.aborted) leave();
        else signal?.addEventListener("abort", leave, { once: true });
      },
      async pull(controller) {
        isBegun = true;
        try {
          const { done, value } = await iterator.next();
          if (done) controller.close();
          else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
        } catch (error) {
          if (!request.signal?.aborted) failed(error);
          // Hosts print what they get, some of them to the client.
          throw new InternalError("The answer broke off");
        }
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** By its name: hosts such as @hono/node-server put a class of their own in the place of the global one. */
export function isWebResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === "[object Response]";
}
