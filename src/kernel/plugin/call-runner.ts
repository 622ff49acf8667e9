import { withDeadline } from "../async/deadline.ts";
import { UnavailableError } from "../errors/errors.ts";
import { describeError } from "../log/describe-error.ts";
import type { Logger } from "../log/logger.ts";
import type { Limits } from "../request/limits.ts";
import type { Principal } from "../request/principal.ts";
import type { OpenScope, Scope, ScopeInit } from "../request/scope.ts";

/** Runs the calls of clients in the process, as RequestHandler answers requests. */
export interface CallRunner {
  /**
   * Runs a call in a scope of its own, which ends with it. It waits until the app has started, unless it is `early`.
   * @throws UnavailableError after `drain`; what keeps the app from starting
   */
  run<T>(
    principal: () => Principal,
    work: (scope: Scope) => Promise<T>,
    options?: { readonly early?: boolean },
  ): Promise<T>;
  /** Refuses new calls; resolves when those in flight have ended, or after the time that a request may take. */
  drain(): Promise<void>;
}

/** What calls in the process need of the kernel. */
export interface CallRunnerParts {
  readonly limits: Limits;
  readonly log: Logger;
  open(init: ScopeInit): OpenScope;
  started(): Promise<void> | undefined;
}

export function createCallRunner({ limits, log, open, started }: CallRunnerParts): CallRunner {
  let active = 0;
  let isClosing = false;
  let onIdle: (() => void) | undefined;

  return {
    async run(principal, work, { early = false } = {}) {
      if (!early) await started();
      if (isClosing) throw new UnavailableError("The app is closed");
      const scope = open({ principal: principal(), requestId: crypto.randomUUID() });
      active += 1;
      try {
        return await work(scope);
      } finally {
        await scope.close();
        active -= 1;
        if (active === 0) onIdle?.();
      }
    },
    async drain() {
      isClosing = true;
      if (active === 0) return;
      const idle = new Promise<void>((resolve) => (onIdle = resolve));
      const failed = (error: unknown): void => log.error("Stopping failed: calls in flight", describeError(error));
      await withDeadline(idle, limits.requestMs + limits.hookMs, "calls in flight").catch(failed);
    },
  };
}
