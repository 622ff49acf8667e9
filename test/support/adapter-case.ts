import { requestBytes } from "./http.ts";

/** How a body parser in front of the adapter handles bodies. */
export type Parser = "json" | "raw" | "text";

/** Where a host mounts the app. */
export interface Places {
  /** Base path of the entity routes. */
  readonly root: string;
  /** Base path of the plugin endpoints. */
  readonly endpoints: string;
}

/**
 * Responses that the host itself sends, before or instead of the API, by case title. Nothing else may differ.
 */
export type OwnAnswers = Readonly<Record<string, OwnAnswer>>;

/** A response that the host sends by itself, and the reason. */
export interface OwnAnswer {
  readonly why: string;
  readonly status: number;
  /** Expected headers of the response; `undefined` means that the header must be absent. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
}

/** One request, and the response that every adapter must give. */
export interface AdapterCase {
  readonly title: string;
  readonly bytes: (at: Places) => string | Buffer;
  readonly status: number;
  /** Code of the error in the body. */
  readonly code?: string;
  /** Expected headers of the response; `undefined` means that the header must be absent. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Parsers that answer such a request themselves, or that hide its body from the adapter. */
  readonly lostBy?: readonly Parser[];
}

/** A request without a body, below the API's root. */
export function bare(method: string, path: string, ...headers: string[]): AdapterCase["bytes"] {
  return ({ root }) => requestBytes(method, root + path, headers);
}

export const ada = "Authorization: Bearer ada";

/** A POST; Content-Length is set unless `headers` describe the length. */
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

/** A POST of JSON to /films as Ada. */
export function postJson(body: string | Buffer, ...headers: string[]): AdapterCase["bytes"] {
  return post(body, ada, jsonType, ...headers);
}
