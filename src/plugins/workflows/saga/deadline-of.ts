import type { Saga } from "./saga.ts";
import { nowOf } from "./saga-runtime.ts";

/** When the steps have to be done; from the start of the run, whoever began it. */
export function deadlineOf({ definition, runtime }: Saga): AbortSignal | undefined {
  if (definition.timeout === undefined) return runtime.signal;
  const left = runtime.startedAt.getTime() + definition.timeout - nowOf(runtime).getTime();
  const limit = left > 0 ? AbortSignal.timeout(Math.ceil(left)) : AbortSignal.abort();
  return runtime.signal === undefined ? limit : AbortSignal.any([limit, runtime.signal]);
}
