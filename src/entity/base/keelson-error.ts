const kKeelsonError = Symbol.for("keelson.error");

/** What a Keelson error may carry besides its message. */
export interface KeelsonErrorOptions {
  /** Machine-readable facts for the caller; never rejected values of protected fields, SQL or paths. */
  readonly details?: unknown;
  /** The cause. Logged (redacted), never sent. */
  readonly cause?: unknown;
  /** Extra response headers, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Base of every error Keelson throws (spec section 7). It lives beside the entity language because definitions throw
 * errors, too; the kernel adds the errors of requests.
 */
export class KeelsonError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: unknown;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(code: string, status: number, message: string, options: KeelsonErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.status = status;
    this.details = options.details;
    this.headers = options.headers;
    Object.defineProperty(this, kKeelsonError, { value: true });
  }

  /** The body of the error on the wire. */
  toJSON(): Record<string, unknown> {
    const body: Record<string, unknown> = { code: this.code, message: this.message, status: this.status };
    if (this.details !== undefined) body.details = this.details;
    return body;
  }

  /** The error as a web-standard response. */
  toResponse(): Response {
    return new Response(JSON.stringify(this.toJSON()), {
      status: this.status,
      headers: { "content-type": "application/json; charset=utf-8", ...this.headers },
    });
  }
}

/** Recognises Keelson errors by brand, so that two copies of the package still agree. */
export function isKeelsonError(value: unknown): value is KeelsonError {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[kKeelsonError] === true;
}

const NOTHING: Readonly<Record<string, undefined>> = Object.freeze({});

/**
 * Keeps Node from printing the source line of the first frame of an uncaught error, which is long where code is compiled.
 * It leaves out lines that hold this text (node_errors.cc, GetErrorSource), so it has to stay within the statement.
 */
function quoteNoSource(error: Error): void {
  Error.captureStackTrace?.(error, NOTHING["node-do-not-add-exception-line"]);
}

/** Something in the configuration is wrong; found at start-up, all problems in one report. Status 500. */
export class ConfigurationError extends KeelsonError {
  /** One sentence per problem found. */
  readonly problems: readonly string[];

  constructor(problems: string | readonly string[], options: KeelsonErrorOptions = {}) {
    const list = typeof problems === "string" ? [problems] : problems;
    const message =
      list.length === 1
        ? (list[0] as string)
        : `${list.length} problems in the configuration:\n${list.map((problem) => `  - ${problem}`).join("\n")}`;
    super("CONFIGURATION_ERROR", 500, message, options);
    this.problems = list;
    // An app that cannot start shows this error as Node prints it: the sentences come first, and once.
    for (const name of Object.keys(this)) Object.defineProperty(this, name, { enumerable: false });
    quoteNoSource(this);
  }
}
