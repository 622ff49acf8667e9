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

/**
 * What a host answers by itself, before or instead of the API, by the title of a case. Nothing else may differ.
 */
export type OwnAnswers = Readonly<Record<string, OwnAnswer>>;

/** The answer of a host that the API has no say in, and why it is like that. */
export interface OwnAnswer {
  readonly why: string;
  readonly status: number;
  /** Headers the answer has; undefined: has not. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
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

/** A POST; the length is announced unless `headers` say something else about it. */
export function postTo(path: string, body: string | Buffer, ...headers: string[]): AdapterCase["bytes"] {
  const framed = headers.some((line) => /^(content-length|transfer-encoding):/i.test(line));
  const length = framed ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return ({ root }) =>
    Buffer.concat([Buffer.from(requestBytes("POST", root + path, [...headers, ...length])), Buffer.from(body)]);
}

/** A POST to /films. */
export function post(body: string | Buffer, ...headers: string[]): AdapterCase["bytes"] {
  return postTo("/films", body, ...headers);
}

export const jsonType = "Content-Type: application/json";

/** A POST of JSON to /films by Ada. */
export function postJson(body: string | Buffer, ...headers: string[]): AdapterCase["bytes"] {
  return post(body, ada, jsonType, ...headers);
}
