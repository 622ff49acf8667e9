import { PluginError } from "../../../kernel/index.ts";

/**
 * Why a record of a service could not be fetched, in the words of the header `X-Remote-Errors`. `gone` never appears
 * there: the caller has left, so there is no response to read.
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

/** Turns anything thrown into a failure of a service. An error that is not one yet was thrown by the service itself. */
export function toFailure(error: unknown, service: string): RemoteFailure {
  return error instanceof RemoteFailure
    ? error
    : new RemoteFailure("error", `The service "${service}" failed`, { cause: error });
}
