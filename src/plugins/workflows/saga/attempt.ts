import { isKeelsonError } from "../../../entity/index.ts";
import { InternalError, UnavailableError } from "../../../kernel/index.ts";
import type { RetryOptions } from "../definition/step.ts";

/** A try exceeded its time limit; its outcome is unknown. */
export class StepTimeoutError extends Error {
  override readonly name = "StepTimeoutError";
}

/**
 * Whether a retry could help. A Keelson error with a 4xx status is not retried: the input or the caller's rights are
 * wrong.
 */
export function isRetryable(error: unknown): boolean {
  return !(error instanceof ResultNotKept) && !(isKeelsonError(error) && error.status >= 400 && error.status < 500);
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** Waits. Ends early when the signal is aborted. */
function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(milliseconds, LONGEST_MS));
    signal?.addEventListener("abort", end);
  });
}

/**
 * Runs work until it succeeds or its tries are used up.
 * @param again whether an error is worth another try
 */
export async function withRetries<T>(
  { attempts = 1, delay = 100, backoff = 2 }: RetryOptions,
  signal: AbortSignal | undefined,
  again: (error: unknown) => boolean,
  work: (attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= attempts || isAborted(signal) || !again(error)) throw error;
      await pause(delay * backoff ** (attempt - 1), signal);
      if (isAborted(signal)) throw error;
    }
  }
}

/**
 * Runs one try with a time limit. A late try is abandoned: its signal is aborted, and its result or error is discarded.
 * @throws StepTimeoutError when the try is late, or the run has been given up
 */
export async function withinTime<T>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (isAborted(outer)) throw new StepTimeoutError(`${what} was given up`);
  const controller = new AbortController();
  const signal = outer === undefined ? controller.signal : AbortSignal.any([controller.signal, outer]);
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  const late = new Promise<never>((_, reject) => {
    const giveUp = (reason: string): void => {
      controller.abort();
      reject(new StepTimeoutError(`${what} ${reason}`));
    };
    timer = setTimeout(() => giveUp(`took longer than ${milliseconds} ms`), milliseconds);
    onAbort = () => giveUp("was given up");
    outer?.addEventListener("abort", onAbort, { once: true });
  });
  late.catch(() => {});
  const running = work(signal);
  running.catch(() => {});
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", onAbort);
  }
}

/**
 * Waits for a journal entry.
 * @throws RunGivenUp when the entry cannot be written; ResultNotKept unchanged, because it is the step's failure
 */
export async function recorded(entry: Promise<void>): Promise<void> {
  try {
    await entry;
  } catch (error) {
    throw error instanceof RunGivenUp || error instanceof ResultNotKept ? error : new RunGivenUp(error);
  }
}

/**
 * The run continues in another process, or later: its journal cannot be written, or belongs to another process by now.
 * This is not a failure of a step, so nothing is compensated.
 */
export class RunGivenUp extends UnavailableError {
  constructor(cause: unknown) {
    super("The workflow cannot go on now", { cause });
  }
}

/** The result of a step cannot be stored, so a process that continues the run would not know it. */
export class ResultNotKept extends InternalError {}

/** The outcome of a step is unknown, because its process died while the step ran. */
export class StepInterruptedError extends InternalError {}

/** A thrown value as an error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new InternalError("A step threw a value that is not an Error", { cause: thrown });
}
