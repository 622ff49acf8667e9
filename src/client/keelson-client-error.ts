/** One problem at one path of the input. */
export interface ClientIssue {
  readonly path: readonly (string | number)[];
  readonly code: string;
  readonly message: string;
}

/** The content of an error. */
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
 * An error of the API, or a response that did not come from the API. It is not a server class: importing those would
 * add the server to every browser bundle. Network failures and aborted calls reject like `fetch`.
 * @example
 * if (error instanceof KeelsonClientError && error.code === "VALIDATION_FAILED") show(error.errors)
 */
export class KeelsonClientError extends Error {
  /**
   * The error code (docs/reference/errors.md), or `UNEXPECTED_ANSWER` for a response that did not come from the API.
   */
  readonly code: string;
  /** The status of the response; 400 for a call that was not sent. */
  readonly status: number;
  /** Error messages by field. */
  readonly errors: Readonly<Record<string, string>>;
  /** All problems of the input. */
  readonly issues: readonly ClientIssue[];
  /** The request's id in the server's log. */
  readonly requestId: string | undefined;
  /** Additional members of the response, such as a workflow's `failedStep`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The headers of the response, such as `Retry-After`; empty for a call that was not sent. */
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
