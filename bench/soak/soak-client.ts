import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** A request of one of the callers. */
export interface SoakRequest {
  readonly method: string;
  readonly path: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, unless it is a text already. */
  readonly body?: unknown;
}

export interface SoakAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** Sends requests of several kinds, and counts them. */
export interface SoakClient {
  readonly sent: () => number;
  ask(sent: SoakRequest): Promise<SoakAnswer>;
  /** The same from a client whose bytes come a few at a time. */
  askSlowly(sent: SoakRequest): Promise<SoakAnswer>;
  /** Sends a request and goes away before or during its answer. */
  abandon(sent: SoakRequest, afterMs: number): Promise<void>;
  /** Sends bytes that are no request, and reads the status of what comes back; undefined when nothing does. */
  sendBytes(bytes: string): Promise<number | undefined>;
  close(): void;
}

function bytesOf({ body }: SoakRequest): Buffer | undefined {
  if (body === undefined) return undefined;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function headersOf(sent: SoakRequest, bytes: Buffer | undefined): Record<string, string | number> {
  return {
    ...(sent.token !== undefined && { authorization: `Bearer ${sent.token}` }),
    ...(bytes !== undefined && { "content-type": "application/json", "content-length": bytes.length }),
    ...sent.headers,
  };
}

/** Longer than any request may take. */
const PATIENCE_MS = 60_000;
const PIECES = 4;
const PAUSE_MS = 15;

export function createSoakClient(port: number, connections: number): SoakClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let count = 0;

  function open(sent: SoakRequest, own: Agent | false = agent) {
    count += 1;
    const bytes = bytesOf(sent);
    const { method, path } = sent;
    const headers = headersOf(sent, bytes);
    const outgoing = request({ agent: own, host: "127.0.0.1", port, method, path, headers, timeout: PATIENCE_MS });
    outgoing.on("timeout", () => outgoing.destroy(new Error(`nothing came for ${PATIENCE_MS} ms`)));
    return { bytes, outgoing };
  }

  function read(incoming: IncomingMessage): Promise<SoakAnswer> {
    let text = "";
    return new Promise((resolve, reject) =>
      incoming
        .setEncoding("utf8")
        .on("data", (chunk: string) => {
          text += chunk;
        })
        .on("end", () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }))
        .on("error", reject),
    );
  }

  return {
    sent: () => count,
    async ask(sent) {
      const { outgoing, bytes } = open(sent);
      const answered = once(outgoing, "response");
      outgoing.end(bytes);
      return read(((await answered) as [IncomingMessage])[0]);
    },
    async askSlowly(sent) {
      const { outgoing, bytes = Buffer.alloc(0) } = open(sent, false);
      const answered = once(outgoing, "response");
      answered.catch(() => undefined); // heard of below, once everything is written
      outgoing.flushHeaders();
      const size = Math.ceil(bytes.length / PIECES);
      for (let at = 0; at < bytes.length; at += size) {
        outgoing.write(bytes.subarray(at, at + size));
        await delay(PAUSE_MS);
      }
      outgoing.end();
      const [incoming] = (await answered) as [IncomingMessage];
      await delay(PAUSE_MS);
      return read(incoming);
    },
    async abandon(sent, afterMs) {
      const { outgoing, bytes } = open(sent, false);
      const over = new Promise((resolve) => outgoing.once("close", resolve));
      outgoing.on("error", () => {}).on("response", (incoming) => incoming.on("error", () => {}).resume());
      outgoing.end(bytes);
      await delay(afterMs);
      outgoing.destroy();
      await over;
    },
    async sendBytes(bytes) {
      count += 1;
      const socket = connect(port, "127.0.0.1");
      let text = "";
      socket
        .setEncoding("latin1")
        .on("data", (chunk) => {
          text += chunk;
        })
        .on("error", () => {});
      socket.write(bytes);
      await once(socket, "close");
      const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1];
      return status === undefined ? undefined : Number(status);
    },
    close: () => agent.destroy(),
  };
}
