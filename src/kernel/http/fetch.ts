import { InternalError } from "../errors/errors.ts";
import { describeError, type Logger } from "../log/logger.ts";
import type { KernelRequest, KernelResponse } from "../request/messages.ts";
import { cancelBody } from "./exchange.ts";
import { refusal } from "./handle-error.ts";

/** The part of an app that hosts need. */
export interface Answering {
  /** Handles a request; errors become responses. */
  handle(request: KernelRequest): Promise<KernelResponse>;
  /** @default nothing is logged */
  readonly log?: Logger | undefined;
}

/** Converts a web-standard request for the kernel. The body is not read. */
export function fromWebRequest(request: Request): KernelRequest {
  const { method, url, signal, body } = request;
  const start = url.indexOf("/", url.indexOf("://") + 3);
  return {
    method,
    url: start === -1 ? "/" : url.slice(start),
    headers: Object.fromEntries(request.headers),
    body: body === null ? undefined : { kind: "stream", stream: body as unknown as AsyncIterable<Uint8Array> },
    signal,
    raw: request,
  };
}

/**
 * Handles a request for a host that uses Request and Response. Never rejects.
 * @param answered runs before the response is returned
 */
export async function answerWeb(
  app: Answering,
  request: KernelRequest,
  answered?: () => Promise<void>,
): Promise<Response> {
  const failed = (error: unknown) => app.log?.error("A response could not be sent", describeError(error));
  let reply: KernelResponse | undefined;
  try {
    reply = await app.handle(request);
    await answered?.();
    return toWebResponse(reply, request, failed);
  } catch (error) {
    // The response cannot be written, for instance because of a line break in a header.
    failed(error);
    if (reply !== undefined) void cancelBody(reply);
    return toWebResponse(refusal(error), request, failed);
  }
}

/**
 * Converts the kernel's response to a web-standard Response.
 * @param failed receives the error of a failed stream, unless the request was aborted; the host gets a generic error
 *   instead
 * @throws TypeError for a response that cannot be written
 */
function toWebResponse(
  { status, headers, body }: KernelResponse,
  request: Pick<KernelRequest, "method" | "signal">,
  failed: (error: unknown) => void,
): Response {
  // `Headers` throws for an invalid value immediately; a host may check a plain object only later, too late for an
  // error response.
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

/**
 * Converts a body for `Response`. A stream is read on demand: one chunk per read of the host, and nothing before the
 * first read.
 */
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
        // A host that has begun to read cancels the stream when the client disconnects. Before that, some hosts, such
        // as Next, just drop the stream.
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
          // Hosts print the error they receive, some of them to the client.
          throw new InternalError("The response broke off");
        }
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Checks the class name, since hosts such as @hono/node-server replace the global class. */
export function isWebResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === "[object Response]";
}

/** Converts a Response that a handler returned. */
export function fromWebResponse(response: Response): Pick<KernelResponse, "status" | "headers" | "body"> {
  const { status, url, body } = response;
  const headers: KernelResponse["headers"] = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  // A fetched body is already decompressed, so its length has changed.
  if (url !== "" && headers["content-encoding"] !== undefined) {
    delete headers["content-encoding"];
    delete headers["content-length"];
  }
  return { status, headers, body: body as unknown as AsyncIterable<Uint8Array> | null };
}
