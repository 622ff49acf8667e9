import type { ResolvedRelation } from "../../../entity/index.ts";
import { describeError, type HttpExchange, type Logger, PluginError } from "../../../kernel/index.ts";

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

/**
 * Why a record of a service could not be fetched, in the words of the header `X-Remote-Errors`. `gone` never appears
 * there: the caller has left, so there is no response to read.
 */
type FailureReason = "timeout" | "error" | "unavailable" | "invalid" | "gone";

/** A service that did not give what it was asked for. It ends as a null, and in the log. */
export class RemoteFailure extends PluginError {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

/** Turns anything thrown into a failure of a service. An error that is not one yet was thrown by the service itself. */
export function toFailure(error: unknown, service: string): RemoteFailure {
  return error instanceof RemoteFailure
    ? error
    : new RemoteFailure("error", `The service "${service}" failed`, { cause: error });
}

/** The same failure for all ids of a batch. */
export function failAll(ids: readonly string[], failure: RemoteFailure): readonly RemoteFailure[] {
  return ids.map(() => failure);
}

const HEADER = "x-remote-errors";

/**
 * Says in the header `X-Remote-Errors` why fields of an answer are null: `subscription;timeout, invoice;unavailable`. Names
 * of relations are identifiers, so they need no quoting (RFC 9110 section 5.6.2).
 */
export function noteOnAnswer(exchange: HttpExchange | undefined, failures: Failures): void {
  const shown = failures.shown();
  if (exchange === undefined || shown.length === 0) return;
  const known = exchange.headers[HEADER];
  const before = typeof known === "string" ? known.split(", ") : [];
  exchange.headers[HEADER] = [...new Set([...before, ...shown])].join(", ");
}
