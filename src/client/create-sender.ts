import type { CallOptions, ClientOptions } from "./client-options.ts";
import { badCall } from "./client-routes.ts";
import { type ClientErrorContent, KeelsonClientError } from "./keelson-client-error.ts";

/** A request below the API's root. */
export interface Outgoing {
  readonly method: string;
  readonly path: string;
  /** Query string without `?`. */
  readonly search?: string | undefined;
  /** Sent as JSON; no body when undefined. */
  readonly body?: unknown;
  readonly prefer?: string | undefined;
  readonly options?: CallOptions | undefined;
  /** Whether the path was derived, so that a 404 can only be about the path. */
  readonly isAssumed?: boolean | undefined;
}

/** @throws KeelsonClientError for error responses; any error of `fetch` */
export type Send = (request: Outgoing) => Promise<Answer>;

export function createSender({ baseUrl, getToken, headers: shared, credentials, ...given }: ClientOptions): Send {
  const root = baseUrl.replace(/\/+$/, "");
  // Looked up for each request: a page may replace `fetch`, and the browser's must be called as a global.
  const ask = given.fetch ?? ((url: string, init: RequestInit) => fetch(url, init));

  return async (request) => {
    const { method, path, search, body, prefer, options } = request;
    const text = body === undefined ? undefined : toJson(body);
    const token = await unlessAborted(getToken?.(), options?.signal);
    const headers = new Headers(shared);
    headers.set("accept", "application/json");
    if (text !== undefined) headers.set("content-type", "application/json");
    if (token) headers.set("authorization", `Bearer ${token}`);
    if (prefer !== undefined) headers.set("prefer", prefer);
    if (options?.idempotencyKey !== undefined) headers.set("idempotency-key", options.idempotencyKey);
    if (options?.ifVersion !== undefined) headers.set("if-match", `"${options.ifVersion}"`);
    for (const [name, value] of Object.entries(options?.headers ?? {})) headers.set(name, value);
    const init: RequestInit = { method, headers };
    if (text !== undefined) init.body = text;
    if (credentials !== undefined) init.credentials = credentials;
    if (options?.signal) init.signal = options.signal;
    const response = await ask(root + path + (search ? `?${search}` : ""), init);
    const answer = await readAnswer(response, `${method} ${path}`);
    if (!response.ok) throw errorOf(answer, request);
    return answer;
  };
}

/** Serializes a body to JSON. Refuses NaN, infinity and invalid dates, which JSON would silently turn into null. */
function toJson(body: unknown): string {
  return JSON.stringify(body, function (this: Readonly<Record<string, unknown>>, name: string, value: unknown) {
    const given = this[name]; // `value` is already a text for datetimes
    if (typeof given === "number" && !Number.isFinite(given)) throw badCall(`"${name}" must be a finite number`);
    if (given instanceof Date && value === null) throw badCall(`"${name}" must be a valid date`);
    if (typeof given === "bigint") return String(given);
    return given instanceof Uint8Array ? btoa(Array.from(given, (byte) => String.fromCharCode(byte)).join("")) : value;
  });
}

async function readAnswer(response: Response, of: string): Promise<Answer> {
  const { status, headers, redirected: isElsewhere } = response;
  const text = await response.text();
  const isJson = text !== "" && /\bjson\b/i.test(headers.get("content-type") ?? "");
  const answer: Answer = { status, headers, of, isJson, isElsewhere, body: text === "" ? undefined : text };
  if (!isJson) return answer;
  try {
    return { ...answer, body: JSON.parse(text) };
  } catch {
    throw unexpectedAnswer(answer, `${of} returned invalid JSON`);
  }
}

function errorOf(answer: Answer, { isAssumed }: Outgoing): KeelsonClientError {
  const { status, headers, body, of, isJson } = answer;
  const said = isJson ? (body as Partial<ClientErrorContent> | null) : undefined;
  if (typeof said?.code !== "string" || typeof said.message !== "string")
    return unexpectedAnswer(answer, `${of} returned status ${status}, but not from the API`);
  const { code, message, errors, issues, requestId, status: _, ...details } = body as ClientErrorContent;
  const hint = isAssumed && (status === 404 || status === 405) ? ` (${of} was assumed; give the client routes)` : "";
  return new KeelsonClientError({
    code,
    status,
    message: message + hint,
    errors,
    issues,
    requestId: requestId ?? headers.get("x-request-id") ?? undefined,
    details,
    headers,
  });
}

/** Returns the promise's result, unless the call is aborted first. @throws the signal's reason */
async function unlessAborted<T>(work: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work;
  return await new Promise<T>((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp);
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", giveUp));
  });
}

/** @throws KeelsonClientError for another body, such as an HTML page when `baseUrl` is wrong */
export function expectJson(answer: Answer): unknown {
  if (!answer.isJson)
    throw unexpectedAnswer(answer, `${answer.of} did not return JSON; is baseUrl the address of the API?`);
  return answer.body;
}

/** The API's response. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, other bodies as text; undefined without a body. */
  readonly body: unknown;
  readonly isJson: boolean;
  /** Whether the request was redirected, possibly as a GET without a body. */
  readonly isElsewhere: boolean;
  /** Method and path, for messages. */
  readonly of: string;
}

/** The error for a response that did not come from the API, or that is incomplete. */
export function unexpectedAnswer({ status, headers }: Answer, message: string): KeelsonClientError {
  const requestId = headers.get("x-request-id") ?? undefined;
  return new KeelsonClientError({ code: "UNEXPECTED_ANSWER", status, message, headers, requestId });
}

/**
 * The JSON form of a value: datetimes are texts (ISO 8601, UTC), and so are bigints and bytes (base64). The client has
 * no field definitions at run time, so texts are not converted back.
 */
export type OverTheWire<T> = 0 extends 1 & T
  ? T
  : T extends Date | bigint | Uint8Array
    ? string
    : T extends object
      ? { [K in keyof T]: OverTheWire<T[K]> }
      : T;

/** The JSON form of input: datetimes may be texts, so that a record can be sent back as it was read. */
export type Sendable<T> = 0 extends 1 & T
  ? T
  : T extends Date
    ? Date | string
    : T extends bigint | Uint8Array
      ? T | string
      : T extends Iterable<unknown> | AsyncIterable<unknown>
        ? T
        : T extends object
          ? { [K in keyof T]: Sendable<T[K]> }
          : T;
