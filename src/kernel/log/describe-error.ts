import { isKeelsonError } from "../../entity/keelson-error.ts";
import { kHiddenMessage } from "./logger.ts";

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
  if (start < 0) return []; // the message was changed since: where the old one ends in the stack is unknown
  return stack
    .slice(start + message.length)
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
}
