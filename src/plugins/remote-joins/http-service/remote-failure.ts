import { PluginError } from "../../../kernel/index.ts";

/**
 * Why a record of a service could not be had, in the words of the header `X-Remote-Errors`. `gone` is not one of them:
 * nobody reads the headers of an answer that nobody waits for.
 */
export type FailureReason = "timeout" | "error" | "unavailable" | "invalid" | "gone";

/** A service that did not give what it was asked for. It ends as a null, and in the log. */
export class RemoteFailure extends PluginError {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

/** Anything thrown, as a failure of a service. What is none yet was thrown by the service itself. */
export function toFailure(error: unknown, service: string): RemoteFailure {
  return error instanceof RemoteFailure
    ? error
    : new RemoteFailure("error", `The service "${service}" failed`, { cause: error });
}
