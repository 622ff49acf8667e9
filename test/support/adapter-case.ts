import { requestBytes } from "./http.ts";

/** What a body parser before the adapter makes of bodies. */
export type Parser = "json" | "raw" | "text";

/** Where a host has the app. */
export interface Places {
  /** Path of entity routes. */
  readonly root: string;
  /** Path that plugin endpoints are below. */
  readonly endpoints: string;
}

/** One request, and what every adapter makes of it. */
export interface AdapterCase {
  readonly title: string;
  readonly bytes: (at: Places) => string | Buffer;
  readonly status: number;
  /** Code of the error in the body. */
  readonly code?: string;
  /** Headers the answer has; undefined: has not. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Parsers that answer such a request themselves, or hide from the adapter what it is about. */
  readonly lostBy?: readonly Parser[];
}

/** A request without body below the API's root. */
export function bare(method: string, path: string, ...headers: string[]): AdapterCase["bytes"] {
  return ({ root }) => requestBytes(method, root + path, headers);
}

export const ada = "Authorization: Bearer ada";

/** A POST to /films; the length is announced unless `headers` say something else about it. */
export function post(body: string | Buffer, ...headers: string[]): AdapterCase["bytes"] {
  const framed = headers.some((line) => /^(content-length|transfer-encoding):/i.test(line));
  const length = framed ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return ({ root }) =>
    Buffer.concat([Buffer.from(requestBytes("POST", `${root}/films`, [...headers, ...length])), Buffer.from(body)]);
}

export const jsonType = "Content-Type: application/json";

/** A POST of JSON to /films by Ada. */
export function postJson(body: string | Buffer, ...headers: string[]): AdapterCase["bytes"] {
  return post(body, ada, jsonType, ...headers);
}
