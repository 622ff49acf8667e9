import { once } from "node:events";
import { connect } from "node:net";
import { type ServableApp, serve } from "../../src/adapters/node/index.ts";
import { expectDocumented, holdToDocument, releaseFromDocument } from "./expect-documented.ts";
import { parseResponses, type RawResponse } from "./raw-response.ts";
import { send } from "./send.ts";

/** An app that listens on a free local port. */
export interface RunningApp {
  readonly url: string;
  readonly port: number;
  /** Stops the server and closes the app. */
  close(): Promise<void>;
}

/** Serves an app over real HTTP, without signal handlers. Responses to `request` must match the OpenAPI document. */
export async function startApp(api: ServableApp): Promise<RunningApp> {
  const { url, port, close } = await serve(api, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    gracePeriod: 2_000,
  });
  holdToDocument(url, api);
  return {
    url,
    port,
    close() {
      releaseFromDocument(url);
      return close();
    },
  };
}

export interface RequestInit {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface JsonResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; undefined when there is no body. */
  // biome-ignore lint/suspicious/noExplicitAny: a response has no type before a test has checked it
  readonly json: any;
}

/** One request with JSON in and out. The path is normalised like a URL; `rawRequest` sends its argument unchanged. */
export async function request(
  url: string,
  method: string,
  path: string,
  init: RequestInit = {},
): Promise<JsonResponse> {
  const headers: Record<string, string> = { ...init.headers };
  if (init.token !== undefined) headers.authorization = `Bearer ${init.token}`;
  if (init.body !== undefined) headers["content-type"] ??= "application/json";
  const body = init.body === undefined ? null : JSON.stringify(init.body);
  const answered = await send(url + path, method, headers, body);
  await expectDocumented(url, { method, url: path, ...answered });
  const { text, ...rest } = answered;
  return { ...rest, json: text === "" ? undefined : JSON.parse(text) };
}

/**
 * Sends bytes unchanged and reads until the server closes the connection, so the last request has to ask for that
 * (`Connection: close`) unless the server is expected to close by itself. HEAD must be sent alone.
 */
export async function rawRequest(port: number, bytes: string | Uint8Array): Promise<RawResponse[]> {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  // A server that has answered and closed resets a client that still sends; its response counts.
  socket.on("error", () => {});
  socket.write(bytes);
  await once(socket, "close");
  return parseResponses(Buffer.concat(chunks), Buffer.from(bytes).toString("latin1", 0, 5) === "HEAD ");
}

/** The lines of a request as sent. `Connection: close` is added when `headers` has no Connection. */
export function requestBytes(method: string, target: string, headers: readonly string[] = [], body = ""): string {
  const connection = headers.some((line) => /^connection:/i.test(line)) ? [] : ["Connection: close"];
  return [`${method} ${target} HTTP/1.1`, "Host: test.invalid", ...headers, ...connection, "", body].join("\r\n");
}
