import type { IncomingMessage } from "node:http";
import { ConfigurationError } from "../../entity/index.ts";
import type { KernelBody } from "../../kernel/index.ts";
import { announcesBody, unreadBody } from "../node/node-host.ts";

/** The part of Express's request that the adapter uses. */
export interface ExpressRequest extends IncomingMessage {
  /** The path that the middleware is mounted under; empty if it is not mounted. */
  baseUrl?: string;
  /** The original target. */
  originalUrl?: string;
  /** The result of body parsers. */
  body?: unknown;
}

/** The body of a request after other middleware: unparsed, parsed as JSON, bytes or text, or consumed. */
export function expressBody(request: ExpressRequest): KernelBody | undefined {
  const { body } = request;
  // Parsers of express 4 set `{}` on requests that they do not parse, and others an empty value without a body.
  const nothing =
    body === undefined || body === "" || (typeof body === "object" && Object.keys(body ?? {}).length === 0);
  if (nothing && !(request.readableDidRead && announcesBody(request))) return unreadBody(request);
  if (body === undefined) return { kind: "stream", stream: consumed() };
  if (body instanceof Uint8Array) return { kind: "bytes", bytes: body };
  return typeof body === "string" ? { kind: "text", text: body } : { kind: "parsed", value: body };
}

/** A body that has been consumed: reading it fails. */
// biome-ignore lint/correctness/useYield: it throws before the first chunk
async function* consumed(): AsyncGenerator<Uint8Array> {
  throw new ConfigurationError(
    "A middleware before expressAdapter has read the request's body and left no req.body; mount the adapter before it",
  );
}
