import { isKeelsonError, type KeelsonError } from "../../entity/index.ts";
import { InternalError } from "./errors.ts";

/** An error as status, headers and body. */
export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ErrorReplyOptions {
  /** Goes into the body, so that a report can be matched with the log. */
  readonly requestId?: string | undefined;
  /** RFC 9457 members beside ours. @default false */
  readonly problemJson?: boolean | undefined;
  /** Path of the request, for RFC 9457's `instance`. */
  readonly instance?: string | undefined;
}

/**
 * Turns anything thrown into a reply (spec section 7 rule 1). What is not an error of ours becomes a 500 that says
 * nothing; so do configuration errors, whose text is for the log.
 */
export function handleError(error: unknown, options: ErrorReplyOptions = {}): ErrorReply {
  const known: KeelsonError =
    isKeelsonError(error) && error.code !== "CONFIGURATION_ERROR" ? error : new InternalError();
  const code = isKeelsonError(error) ? error.code : known.code;
  const { requestId, problemJson, instance } = options;
  const shared = { ...known.toJSON(), code, ...(requestId === undefined ? {} : { requestId }) };
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

/**
 * What the log may say about an error: name, code and stack frames. A message that is not ours is left out, since ORM
 * messages quote the values they were given (architecture.md 3.5).
 * @param causes how many causes to go down, so that a circle of causes ends
 */
export function describeError(error: unknown, causes = 5): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { name } = error;
  const code = (error as { code?: unknown }).code;
  const frames = error.stack
    ?.split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 12);
  return {
    error: name,
    ...(typeof code === "string" ? { code } : {}),
    ...(isKeelsonError(error) ? { message: error.message } : {}),
    ...(frames === undefined ? {} : { stack: frames.map((line) => line.trim()) }),
    ...(error.cause === undefined || causes === 0 ? {} : { cause: describeError(error.cause, causes - 1) }),
  };
}
