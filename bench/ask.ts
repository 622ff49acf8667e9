import { match, ok } from "node:assert/strict";
import type { Dialect } from "./dialects/dialect.ts";
import { sayIn } from "./dialects/said.ts";

/** How one request is sent. */
export interface Asking {
  readonly method?: "GET" | "POST" | "PUT";
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** An answer that had the expected status. */
export interface Answer {
  readonly headers: Headers;
  readonly text: string;
}

/** Asks a server, and refuses an answer of another status. */
export interface Ask {
  /** An answer of any type. */
  plain(status: number, path: string, asking?: Asking): Promise<Answer>;
  /** The value in an answer of JSON. */
  (
    status: number,
    path: string,
    method?: "POST" | "PUT",
    headers?: Record<string, string>,
    body?: string,
  ): Promise<unknown>;
}

/**
 * An `Ask` for the server on a port.
 * @param dialect how it is asked and answers; checks are written in Keelson's words
 */
export function createAsk(port: number, dialect?: Dialect): Ask {
  async function plain(status: number, path: string, { method = "GET", ...rest }: Asking = {}): Promise<Answer> {
    const { request, statusesOf, read } = sayIn(dialect, { method, path, ...rest });
    const expected = statusesOf(status);
    const { path: asked, ...init } = request;
    // A server closes what is idle for long; comparing a long answer can take as long on a busy machine.
    const headers = { ...init.headers, connection: "close" };
    const response = await fetch(`http://127.0.0.1:${port}${asked}`, { ...init, headers });
    const text = await response.text();
    ok(
      expected.includes(response.status),
      `${init.method} ${asked} answered ${response.status}, expected ${expected.join(" or ")}: ${text.slice(0, 300)}`,
    );
    return status < 300 ? read(response.headers, text) : { headers: response.headers, text };
  }
  const ask = async (
    status: number,
    path: string,
    method?: "POST" | "PUT",
    headers?: Record<string, string>,
    body?: string,
  ): Promise<unknown> => {
    const { headers: answered, text } = await plain(status, path, {
      ...(method && { method }),
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
    });
    match(answered.get("content-type") ?? "", /^application\/json/, `${path} did not answer JSON`);
    return JSON.parse(text) as unknown;
  };
  return Object.assign(ask, { plain });
}
