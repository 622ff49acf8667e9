import { isKeelsonError, type KeelsonError } from "../../entity/index.ts";
import { kHiddenMessage } from "../log/logger.ts";
import { type ErrorContent, presentErrorToNobody } from "../records/present-error.ts";
import { InternalError } from "./errors.ts";

/** An error as status, headers and body. */
export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What `handleError` is told about the request. */
export interface ErrorReplyOptions {
  /** Goes into the body, so that a report can be matched with the log. */
  readonly requestId?: string | undefined;
  /** RFC 9457 members beside ours. @default false */
  readonly problemJson?: boolean | undefined;
  /** Path of the request, for RFC 9457's `instance`. */
  readonly instance?: string | undefined;
  /** What the error says of itself, masked for its caller. @default what it says, without the records in it */
  readonly content?: ErrorContent | undefined;
}

/** Keelson errors whose message is for the log only: it names settings and keys. */
const FOR_THE_LOG: ReadonlySet<string> = new Set(["CONFIGURATION_ERROR", "DECRYPTION_FAILED"]);

/**
 * Turns anything thrown into a reply (spec section 7 rule 1). Any other error becomes a 500 that says
 * nothing; so do errors whose text is for the log, which keep their code.
 */
export function handleError(error: unknown, options: ErrorReplyOptions = {}): ErrorReply {
  const known: KeelsonError = isKeelsonError(error) && !FOR_THE_LOG.has(error.code) ? error : new InternalError();
  const code = isKeelsonError(error) ? error.code : known.code;
  const { requestId, problemJson, instance } = options;
  const content = (known === error ? options.content : undefined) ?? presentErrorToNobody(known);
  const shared = { ...content, code, ...(requestId === undefined ? {} : { requestId }) };
  const type = problemJson ? "application/problem+json" : "application/json; charset=utf-8";
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

/** Where an error came from. */
interface Origin {
  readonly plugin: string;
  readonly hook: string;
}

const origins = new WeakMap<Error, Origin>();

/** Notes where an error came from, for the log, unless that is known. */
export function noteOrigin(error: Error, origin: Origin): void {
  if (!origins.has(error)) origins.set(error, origin);
}

/**
 * What the log may say about an error: name, code, stack frames, and the plugin and the hook that it came from. A message
 * that is not a Keelson error's may quote values, as those of an ORM do. It is under a symbol, and the logger of an app shows
 * it outside production only.
 * @param causes how many causes to go down, so that a circle of causes ends
 */
export function describeError(error: unknown, causes = 5): Record<string, unknown> {
  if (!(error instanceof Error))
    return { error: typeof error, ...(typeof error === "string" ? { [kHiddenMessage]: error } : {}) };
  const { name } = error;
  const { code, sqlState } = error as { readonly code?: unknown; readonly sqlState?: unknown };
  const frames = stackFrames(error);
  return {
    error: name,
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof sqlState === "string" ? { sqlState } : {}),
    ...(isKeelsonError(error) ? { message: error.message } : { [kHiddenMessage]: error.message }),
    ...origins.get(error),
    ...(frames.length === 0 ? {} : { stack: frames.slice(0, 12) }),
    ...(error.cause === undefined || causes === 0 ? {} : { cause: describeError(error.cause, causes - 1) }),
  };
}

/** Where an error comes from. A stack begins with the message, and lines of a message may look like places. */
export function stackFrames({ stack = "", message }: Error): string[] {
  const start = stack.indexOf(message);
  if (start < 0) return []; // the message was changed since, and nobody can tell where the old one ends
  return stack
    .slice(start + message.length)
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
}
