import type { ResolvedRelation } from "../../../entity/index.ts";
import { describeError, type HttpExchange, type Logger, PluginError } from "../../../kernel/index.ts";

interface Noted {
  readonly relation: ResolvedRelation;
  readonly failure: RemoteFailure;
  ids: number;
}

/** The failures of one stitch, once per relation and reason. */
export interface Failures {
  note(relation: ResolvedRelation, failure: RemoteFailure): void;
  /** Logs a line per failure, with the number of ids but not the ids themselves (spec 4.4 rule 4). */
  log(log: Logger, requestId: string | undefined): void;
  /** The values for the header, such as `subscription;timeout`. */
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

/** Describes a failure. Services may throw any value, even one whose properties throw. */
function describe(failure: RemoteFailure): Record<string, unknown> {
  try {
    return describeError(failure);
  } catch {
    return { error: failure.name, message: failure.message };
  }
}

/**
 * The reason why a record of a service could not be fetched, as in the header `X-Remote-Errors`. `gone` never appears
 * there: the caller has left, so there is no response to read.
 */
type FailureReason = "timeout" | "error" | "unavailable" | "invalid" | "gone";

/** A failed call to a service. It becomes null in the response, and an entry in the log. */
export class RemoteFailure extends PluginError {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * Converts any thrown value to a failure of a service. Other errors than `RemoteFailure` were thrown by the service
 * itself.
 */
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
 * Adds the header `X-Remote-Errors`, which explains why fields of a response are null: `subscription;timeout,
 * invoice;unavailable`. Names of relations are identifiers, so they need no quoting (RFC 9110 section 5.6.2).
 */
export function noteOnAnswer(exchange: HttpExchange | undefined, failures: Failures): void {
  const shown = failures.shown();
  if (exchange === undefined || shown.length === 0) return;
  const known = exchange.headers[HEADER];
  const before = typeof known === "string" ? known.split(", ") : [];
  exchange.headers[HEADER] = [...new Set([...before, ...shown])].join(", ");
}
