import { credentialsOf } from "./signed-in.ts";

/** A response of the API. */
export interface Answer<T = unknown> {
  readonly data: T;
  readonly status: number;
  readonly headers: Headers;
}

/** An error that the API returned. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Messages by field. */
  readonly errors: Readonly<Record<string, string>>;

  constructor(status: number, body: Partial<Record<string, unknown>>) {
    super(typeof body.message === "string" ? body.message : `HTTP ${status}`);
    this.status = status;
    this.code = typeof body.code === "string" ? body.code : "UNKNOWN";
    this.errors =
      typeof body.errors === "object" && body.errors !== null ? (body.errors as Record<string, string>) : {};
  }
}

/** Options of a request. */
export interface CallOptions {
  readonly method?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged, with its media type. */
  readonly body?: { readonly type: string; readonly content: Blob | string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Sends no token, because it may have expired: for a login. @default false */
  readonly isLogin?: boolean;
}

let base = location.href;

/** Sets the address of the API; paths are relative to it. */
export function setBase(url: string): void {
  base = url;
}

/** Sends a request with the caller's credentials. @throws ApiError for statuses from 400 */
export async function send(path: string, options: CallOptions = {}): Promise<Response> {
  const { method = "GET", json, body, headers = {}, signal, isLogin = false } = options;
  const own = credentialsOf();
  const content = json === undefined ? body?.content : JSON.stringify(json);
  const type = json === undefined ? body?.type : "application/json";
  const response = await fetch(new URL(path, base), {
    method,
    credentials: own.mode,
    headers: { ...headers, ...(isLogin ? {} : own.headers), ...(type === undefined ? {} : { "content-type": type }) },
    ...(content === undefined ? {} : { body: content }),
    ...(signal === undefined ? {} : { signal }),
  });
  if (response.ok) return response;
  const error: unknown = await response.json().catch(() => ({}));
  throw new ApiError(response.status, (error ?? {}) as Record<string, unknown>);
}

/** Sends a request and parses the response as JSON. @throws ApiError for statuses from 400 */
export async function call<T = unknown>(path: string, options: CallOptions = {}): Promise<Answer<T>> {
  const response = await send(path, options);
  const text = await response.text();
  return {
    data: (text === "" ? undefined : JSON.parse(text)) as T,
    status: response.status,
    headers: response.headers,
  };
}

/** The message of an error, with the messages of its fields: for errors that are not shown at fields. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const fields = error instanceof ApiError ? Object.entries(error.errors) : [];
  return [message, ...fields.map(([name, text]) => (name === "_" ? text : `${name} ${text}`))].join(" · ");
}
