import { badCall } from "./bad-call.ts";
import type { CallOptions } from "./client-options.ts";
import { KeelsonClientError } from "./keelson-client-error.ts";

/** Options of `modify`. */
export interface ModifyOptions extends Omit<CallOptions, "ifVersion" | "idempotencyKey"> {
  /** Times to try, the first one included. @default 5 */
  readonly attempts?: number | undefined;
}

/** What `modify` does with records. */
export interface ModifyCalls {
  readonly get: (id: string, query: undefined, options: CallOptions) => Promise<unknown>;
  readonly update: (id: string, data: unknown, options: CallOptions) => Promise<unknown>;
}

/** Milliseconds of the first pause at most; each further one is twice as long, up to the longest. */
const FIRST_PAUSE = 25;
const LONGEST_PAUSE = 1_000;

/**
 * Reads a record, changes it, and does both again when others have changed it in between: a write is never based on
 * anything but what the record still is.
 * @throws KeelsonClientError with status 412 when others were faster each time; what `change` throws
 */
export async function modify(
  { get, update }: ModifyCalls,
  id: string,
  change: (current: never) => unknown,
  { attempts = 5, ...options }: ModifyOptions = {},
): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const current = (await get(id, undefined, options)) as { readonly version?: unknown };
    const { version: ifVersion } = current;
    if (typeof ifVersion !== "number") throw badCall("modify needs records with a version");
    const data = await change(current as never);
    if (data === undefined || data === null) return current;
    try {
      return await update(id, data, { ...options, ifVersion });
    } catch (error) {
      const isChanged = error instanceof KeelsonClientError && error.status === 412;
      if (!isChanged || !(attempt < attempts)) throw error; // NaN is no number of attempts either
    }
    await pause(attempt, options.signal);
  }
}

/** A time by chance, so that those who met once do not meet again. @throws the signal's reason */
function pause(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1));
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, Math.random() * longest);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
