/** One problem with one place of what was sent. */
export interface ClientIssue {
  readonly path: readonly (string | number)[];
  readonly code: string;
  readonly message: string;
}

/** What is known of a call that failed. */
export interface ClientErrorContent {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  readonly errors?: Readonly<Record<string, string>> | undefined;
  readonly issues?: readonly ClientIssue[] | undefined;
  readonly requestId?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Headers | undefined;
}

/**
 * An error of the API, or a response that did not come from the API. It is not one of the server's classes: importing
 * those would put the server into every browser bundle. Network failures and aborted calls reject as `fetch` does.
 * @example
 * if (error instanceof KeelsonClientError && error.code === "VALIDATION_FAILED") show(error.errors)
 */
export class KeelsonClientError extends Error {
  /** Code of the catalogue (docs/reference/errors.md), or `UNEXPECTED_ANSWER` for an answer that is not the API's. */
  readonly code: string;
  /** Status of the answer; 400 for a call that was never sent. */
  readonly status: number;
  /** A message per field, to show at the field. */
  readonly errors: Readonly<Record<string, string>>;
  /** All that is wrong with what was sent. */
  readonly issues: readonly ClientIssue[];
  /** What the server's log has the request under. */
  readonly requestId: string | undefined;
  /** What the answer said besides, such as `failedStep` of a workflow. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Headers of the answer, such as `Retry-After`; empty for a call that was never sent. */
  readonly headers: Headers;

  constructor({ code, status, message, errors, issues, requestId, details, headers }: ClientErrorContent) {
    super(message);
    this.name = "KeelsonClientError";
    this.code = code;
    this.status = status;
    this.errors = errors ?? {};
    this.issues = issues ?? [];
    this.requestId = requestId;
    this.details = details ?? {};
    this.headers = headers ?? new Headers();
  }
}
