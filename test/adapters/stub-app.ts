import type { ServableApp } from "../../src/adapters/node/index.ts";
import type { KernelRequest, KernelResponse } from "../../src/kernel/index.ts";
import { recordingLogger } from "../../src/testing/recording-logger.ts";

/** A minimal app for adapters, with the response that a test wants. */
export function stubApp(
  handle: (request: KernelRequest) => KernelResponse | Promise<KernelResponse>,
  parts: Partial<Pick<ServableApp, "owns" | "ready" | "close">> = {},
) {
  const log = recordingLogger();
  const app: ServableApp & { closed: boolean; readonly log: typeof log } = {
    async handle(request) {
      return handle(request);
    },
    ready: Promise.resolve(),
    closed: false,
    async close() {
      app.closed = true;
    },
    log,
    ...parts,
  };
  return app;
}

/** A JSON response. */
export function reply(value: unknown, status = 200, headers: KernelResponse["headers"] = {}): KernelResponse {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(value),
  };
}

/** A body as apps create them: its resources are released when it ends, possibly before it has begun. */
export function heldBody() {
  const seen = { begun: 0, ended: 0 };
  const body: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        seen.begun++;
        return { done: false, value: "a line\n" };
      },
      async return() {
        seen.ended++;
        return { done: true, value: undefined };
      },
    }),
  };
  return { body, seen };
}

/** Reads a body of any kind the way the kernel does. */
export async function readBody({ body }: KernelRequest): Promise<unknown> {
  if (body === undefined) return undefined;
  if (body.kind === "parsed") return body.value;
  if (body.kind === "text") return body.text;
  if (body.kind === "bytes") return Buffer.from(body.bytes).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
