import type { IncomingMessage } from "node:http";
import { ConfigurationError } from "../../entity/index.ts";
import type { KernelBody } from "../../kernel/index.ts";
import { announcesBody, unreadBody } from "../node/node-host.ts";

/** What the adapter uses of Express's request. */
export interface ExpressRequest extends IncomingMessage {
  /** Path the middleware is mounted under; empty without one. */
  baseUrl?: string;
  /** The target as it was sent. */
  originalUrl?: string;
  /** What body parsers left. */
  body?: unknown;
}

/** A request's body after any middleware: no parser, a parser of JSON, bytes or text, or one that kept nothing. */
export function expressBody(request: ExpressRequest): KernelBody | undefined {
  const { body } = request;
  // Parsers of express 4 leave `{}` on requests that they do not touch.
  const nothing = body === undefined || (typeof body === "object" && Object.keys(body ?? {}).length === 0);
  if (nothing && !request.readableDidRead) return unreadBody(request);
  if (body === undefined) return announcesBody(request) ? { kind: "stream", stream: consumed() } : undefined;
  if (body instanceof Uint8Array) return { kind: "bytes", bytes: body };
  return typeof body === "string" ? { kind: "text", text: body } : { kind: "parsed", value: body };
}

/** Fails like a body that can no longer be read. */
// biome-ignore lint/correctness/useYield: it fails before the first chunk
async function* consumed(): AsyncGenerator<Uint8Array> {
  throw new ConfigurationError(
    "A middleware before expressAdapter has read the request's body and left no req.body; mount the adapter before it",
  );
}
