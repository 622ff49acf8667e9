import { randomUUID } from "node:crypto";
import { isKeelsonError, type KeelsonError } from "../../entity/base/keelson-error.ts";
import { InternalError } from "../errors/errors.ts";
import type { KernelResponse } from "../request/messages.ts";
import { type ErrorContent, errorContent } from "../request/present.ts";
import type { ErrorBody } from "../routes/kernel-route.ts";
import { baseHeaders } from "./exchange.ts";

/** An error as status, headers and body. */
export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Options of `handleError`. */
export interface ErrorReplyOptions {
  /** Part of the body, so that a report can be matched with the log. */
  readonly requestId?: string | undefined;
  /** Whether to add the members of RFC 9457. @default false */
  readonly problemJson?: boolean | undefined;
  /** Path of the request, for RFC 9457's `instance`. */
  readonly instance?: string | undefined;
  /** The error's body, masked for its caller. @default the error's body without records */
  readonly content?: ErrorContent | undefined;
}

const JSON_TYPE = "application/json; charset=utf-8";

/** Keelson errors whose messages are only logged: they name settings and keys. */
const FOR_THE_LOG: ReadonlySet<string> = new Set(["CONFIGURATION_ERROR", "DECRYPTION_FAILED"]);

/**
 * Converts any thrown value into a reply (spec section 7 rule 1). Errors that are not Keelson's become a generic 500;
 * so do errors whose messages are only logged, but they keep their code.
 */
export function handleError(error: unknown, options: ErrorReplyOptions = {}): ErrorReply {
  const known: KeelsonError = isKeelsonError(error) && !FOR_THE_LOG.has(error.code) ? error : new InternalError();
  const code = isKeelsonError(error) ? error.code : known.code;
  const { requestId, problemJson, instance } = options;
  const content = (known === error ? options.content : undefined) ?? errorContent(known);
  const shared = { ...content, code, ...(requestId === undefined ? {} : { requestId }) };
  const type = problemJson ? "application/problem+json" : JSON_TYPE;
  const body = problemJson
    ? {
        type: `urn:keelson:error:${code}`,
        title: code,
        detail: known.message,
        ...(instance === undefined ? {} : { instance }),
        ...shared,
      }
    : shared;
  return { status: known.status, headers: { "content-type": type, ...known.headers }, body };
}

/** Converts an error into a response. */
export function errorResponse(error: unknown, requestId: string, options?: ErrorReplyOptions): TextResponse {
  const { status, headers, body } = handleError(error, { ...options, requestId });
  return { status, headers: { ...baseHeaders(requestId), ...headers }, body: JSON.stringify(body) };
}

/** Converts an error into a response in the route's error format. @throws any error that the format throws */
export function formattedError(
  error: unknown,
  requestId: string,
  {
    content,
    format,
  }: Pick<ErrorReplyOptions, "content"> & {
    readonly format: (body: ErrorBody) => { readonly type?: string | undefined; readonly body: unknown };
  },
): TextResponse {
  const { status, headers, body } = handleError(error, { content, requestId });
  const { type = JSON_TYPE, body: written } = format({ message: "", ...body, status } as ErrorBody);
  const text = typeof written === "string" ? written : JSON.stringify(written);
  if (text === undefined) throw new InternalError("An error format returns { body }, with an optional type");
  return { status, headers: { ...baseHeaders(requestId), ...headers, "content-type": type }, body: text };
}

/**
 * The response to bytes that are not a valid request, or that replaces a response that cannot be written, in the usual
 * error format.
 */
export function refusal(error: unknown): TextResponse {
  return errorResponse(error, randomUUID());
}

type TextResponse = KernelResponse & { body: string };
