import { isKeelsonError } from "../entity/index.ts";
import type { Output } from "./shell/output.ts";

/**
 * Prints why a command failed. Messages of Keelson errors contain the remedy. Other errors are bugs in the command or
 * its input; their location is printed only with KEELSON_DEBUG, because their messages may contain values.
 */
export function reportFailure(output: Output, error: unknown): void {
  if (isKeelsonError(error)) {
    output.error(error.message);
    if (process.env.KEELSON_DEBUG && error.cause !== undefined) output.note(String((error.cause as Error).stack));
    return;
  }
  const refusal = fileRefusal(error);
  if (refusal !== undefined) {
    output.error(refusal);
    return;
  }
  const name = error instanceof Error ? error.name : typeof error;
  output.error(`The command failed unexpectedly (${name}). KEELSON_DEBUG=1 shows where.`);
  if (process.env.KEELSON_DEBUG) output.note(String((error as Error | undefined)?.stack ?? error));
}

/** The system's reason why a file cannot be read or written; empty for other errors. */
function fileRefusal(error: unknown): string | undefined {
  const { code, path, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return typeof path === "string" && syscall !== undefined ? `${path}: ${syscall} is refused (${code})` : undefined;
}
