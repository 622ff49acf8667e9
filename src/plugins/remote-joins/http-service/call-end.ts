import { RemoteFailure } from "../remote-failure.ts";

/** What ends all requests of one call. */
export interface CallEnd {
  readonly signal: AbortSignal;
  /** Ends them now. */
  end(reason: unknown): void;
  /** To be called once nothing is under way any more. */
  release(): void;
}

/**
 * Ends a call when its time is over, or when nobody waits for it any more. Linked by hand: signals that are derived from
 * others stay with them, and those of a server live long.
 * @param timeout milliseconds; undefined for none
 */
export function createCallEnd(outer: AbortSignal | undefined, timeout: number | undefined): CallEnd {
  const controller = new AbortController();
  const leave = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) leave();
  outer?.addEventListener("abort", leave, { once: true });
  const late = (): void => controller.abort(new RemoteFailure("timeout", `There was no answer within ${timeout} ms`));
  const timer = timeout === undefined ? undefined : setTimeout(late, timeout).unref();
  return {
    signal: controller.signal,
    end: (reason) => controller.abort(reason),
    release() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", leave);
    },
  };
}
