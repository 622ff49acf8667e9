/** One problem with one place of what was sent. */
export interface ClientIssue {
  readonly path: readonly (string | number)[];
  readonly code: string;
  readonly message: string;
}

/** The facts of a failed call. */
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
  /**
   * Code of the catalogue (docs/reference/errors.md), or `UNEXPECTED_ANSWER` for a response that did not come from the
   * API.
   */
  readonly code: string;
  /** Status of the response; 400 for a call that was never sent. */
  readonly status: number;
  /** A message per field, to show at the field. */
  readonly errors: Readonly<Record<string, string>>;
  /** All that is wrong with what was sent. */
  readonly issues: readonly ClientIssue[];
  /** The request's id in the server's log. */
  readonly requestId: string | undefined;
  /** Further members of the response, such as `failedStep` of a workflow. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Headers of the response, such as `Retry-After`; empty for a call that was never sent. */
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
