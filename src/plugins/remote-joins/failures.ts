import type { ResolvedRelation } from "../../entity/index.ts";
import { describeError, type Logger } from "../../kernel/index.ts";
import type { FailureReason, RemoteFailure } from "./http-service/remote-failure.ts";

interface Noted {
  readonly relation: ResolvedRelation;
  readonly failure: RemoteFailure;
  ids: number;
}

/** What failed in one stitch, once per relation and reason. */
export interface Failures {
  note(relation: ResolvedRelation, failure: RemoteFailure): void;
  /** A line of the log each: how many ids it was about, never which (spec 4.4 rule 4). */
  log(log: Logger, requestId: string | undefined): void;
  /** As the header says it: `subscription;timeout`. */
  shown(): readonly string[];
}

/** Nothing has failed yet. */
export function createFailures(): Failures {
  const all = new Map<string, Noted>();
  return {
    note(relation, failure) {
      if (failure.reason === "gone") return;
      const key = `${relation.source.name}.${relation.name};${failure.reason}`;
      const known = all.get(key);
      if (known === undefined) all.set(key, { relation, failure, ids: 1 });
      else known.ids += 1;
    },
    log(log, requestId) {
      for (const { relation, failure, ids } of all.values())
        log.error("Remote join failed", {
          ...describe(failure),
          requestId,
          entity: relation.source.name,
          relation: relation.name,
          service: relation.remote?.service,
          reason: failure.reason satisfies FailureReason,
          ids,
        });
    },
    shown: () => [...new Set([...all.values()].map(({ relation, failure }) => `${relation.name};${failure.reason}`))],
  };
}

/** What a service threw may be anything, and throw itself when it is looked at. */
function describe(failure: RemoteFailure): Record<string, unknown> {
  try {
    return describeError(failure);
  } catch {
    return { error: failure.name, message: failure.message };
  }
}
