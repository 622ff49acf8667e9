const kKeelsonError = Symbol.for("keelson.error");

/** Additional data of a Keelson error. */
export interface KeelsonErrorOptions {
  /** Machine-readable details for the caller. Must not contain rejected values of protected fields, SQL or paths. */
  readonly details?: unknown;
  /** The cause. Logged (redacted), never sent. */
  readonly cause?: unknown;
  /** Extra response headers, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The base class of all errors that Keelson throws (spec section 7). It is part of the entity layer because definitions
 * throw errors, too; the kernel adds the errors of requests.
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

  /** The JSON body of the error. */
  toJSON(): Record<string, unknown> {
    const body: Record<string, unknown> = { code: this.code, message: this.message, status: this.status };
    if (this.details !== undefined) body.details = this.details;
    return body;
  }

  /** Converts the error to a web-standard response. */
  toResponse(): Response {
    return new Response(JSON.stringify(this.toJSON()), {
      status: this.status,
      headers: { "content-type": "application/json; charset=utf-8", ...this.headers },
    });
  }
}

/** Recognizes Keelson errors by a brand, which also works for errors of another copy of the package. */
export function isKeelsonError(value: unknown): value is KeelsonError {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[kKeelsonError] === true;
}

const NOTHING: Readonly<Record<string, undefined>> = Object.freeze({});

/**
 * Keeps Node from printing the source line of the first frame of an uncaught error, which is long in compiled code.
 * Node omits lines that contain this text (node_errors.cc, GetErrorSource), so it must be part of the statement.
 */
function quoteNoSource(error: Error): void {
  Error.captureStackTrace?.(error, NOTHING["node-do-not-add-exception-line"]);
}

/** The configuration is invalid. Found at start-up, with all problems in one report. Status 500. */
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
    // When an app cannot start, Node prints this error: the problems come first, and only once.
    for (const name of Object.keys(this)) Object.defineProperty(this, name, { enumerable: false });
    quoteNoSource(this);
  }
}
