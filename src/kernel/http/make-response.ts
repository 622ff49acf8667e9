import { InternalError } from "../errors/errors.ts";
import type { KernelResponse } from "../request/messages.ts";
import type { Scope, Scopes } from "../request/scope.ts";
import { Reply } from "../routes/kernel-route.ts";
import { OpenStream } from "../routes/open-stream.ts";
import { baseHeaders, cancelBody, isStream } from "./exchange.ts";
import { fromWebResponse, isWebResponse } from "./fetch.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** Make bodies from the results of handlers. */
export interface BodyWriters {
  toJson(value: unknown, scope: Scope): ReturnType<Scopes["toJson"]>;
  open(stream: OpenStream, scope: Scope): AsyncIterable<Uint8Array | string>;
}

/** Turns the response to a GET into one to a HEAD: same headers, no body. */
export function dropBody(response: KernelResponse): void {
  const { body } = response;
  if (typeof body === "string" || body instanceof Uint8Array)
    response.headers["content-length"] = String(Buffer.byteLength(body));
  void cancelBody({ body });
  response.body = null;
}

/**
 * Makes a response from a handler's result. Every record in it is masked. Results are sent as JSON, except for a
 * Response or a stream.
 */
export function finish(
  result: unknown,
  requestId: string,
  scope: Scope,
  writers: BodyWriters,
): KernelResponse | Promise<KernelResponse> {
  if (isWebResponse(result)) {
    const { status, headers, body } = fromWebResponse(result);
    return { status, headers: { ...baseHeaders(requestId), ...headers }, body };
  }
  const reply = result instanceof Reply ? result : new Reply(result === undefined ? 204 : 200, result);
  const { body } = reply;
  if (body === undefined) return respond(requestId, reply, null);
  if (body instanceof OpenStream) return respond(requestId, reply, writers.open(body, scope));
  if (body instanceof Uint8Array || isStream(body)) return respond(requestId, reply, body);
  const written = writers.toJson(body, scope);
  return written instanceof Promise
    ? written.then((text) => respondWithJson(requestId, reply, text))
    : respondWithJson(requestId, reply, written);
}

function respondWithJson(requestId: string, reply: Reply, text: string | undefined): KernelResponse {
  if (text === undefined) throw new InternalError("The result cannot be written as JSON");
  return respond(requestId, reply, text, JSON_TYPE);
}

export function respond(requestId: string, reply: Reply, body: KernelResponse["body"], type?: string): KernelResponse {
  const headers = baseHeaders(requestId);
  if (type !== undefined) headers["content-type"] = type;
  return { status: reply.status, headers: Object.assign(headers, reply.headers), body };
}
