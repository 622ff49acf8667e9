import { onTestFinished } from "vitest";
import { createPlugin, endpoint, keelson, memoryDriver } from "../../../src/index.ts";
import { type JwtAuthOptions, jwtAuth } from "../../../src/plugins/jwt-auth/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { startApp } from "../../support/http.ts";

/** The responses and log lines of an app. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as sent, without the request's id. */
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a response has no type before a test has checked it
  readonly json: any;
}

export interface WhoApp {
  readonly url: string;
  readonly port: number;
  readonly lines: readonly string[];
  /** Requests the caller's identity, with a token or with headers. */
  ask(credentials?: string | Readonly<Record<string, string>>, path?: string): Promise<Answer>;
}

/** `GET /who` tells any caller their identity; `GET /mine` is for authenticated callers. */
export const who = createPlugin({
  id: "who",
  endpoints: {
    who: endpoint("/who", { rules: ["everyone"], handler: ({ scope }) => scope.principal }),
    mine: endpoint("/mine", { rules: ["authenticated"], handler: () => ({ ok: true }) }),
  },
});

/** Serves an app over HTTP with `jwtAuth`, until the test ends. */
export async function serveWho(options: JwtAuthOptions): Promise<WhoApp> {
  const logger = recordingLogger();
  const api = keelson({ entities: [], driver: memoryDriver(), logger, plugins: [jwtAuth(options), who] });
  const { url, port, close } = await startApp(api);
  onTestFinished(close);
  return {
    url,
    port,
    lines: logger.lines,
    async ask(credentials, path = "/who") {
      const headers = typeof credentials === "string" ? { authorization: `Bearer ${credentials}` } : credentials;
      const response = await fetch(url + path, { headers: headers ?? {} });
      const text = await response.text();
      const json = JSON.parse(text);
      const { status } = response;
      return { status, headers: response.headers, text: text.replace(json.requestId, "…"), json };
    },
  };
}
