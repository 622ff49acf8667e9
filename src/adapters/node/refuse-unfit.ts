import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { KeelsonError } from "../../entity/index.ts";
import { BadRequestError, refusal } from "../../kernel/index.ts";
import { answer } from "./answer-request.ts";
import type { NodeHandler } from "./to-node-handler.ts";

/**
 * Refuses, with the usual error body, requests that node would refuse without a body: those without `Host` (RFC 9112
 * section 3.2), and those with an unknown `Expect` (RFC 9110 section 10.1.1). The server must not require `Host`
 * itself.
 */
export function refuseUnfit(server: Server, handle: NodeHandler): void {
  server.on("request", (incoming, outgoing) => {
    if (!lacksHost(incoming)) return handle(incoming, outgoing);
    outgoing.shouldKeepAlive = false;
    refuseWith(new BadRequestError("The request has no Host"))(incoming, outgoing);
  });
  server.on(
    "checkExpectation",
    refuseWith(new KeelsonError("BAD_REQUEST", 417, "Expect takes nothing but 100-continue")),
  );
}

function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion === "1.1";
}

function refuseWith(error: KeelsonError): NodeHandler {
  const refusing = { handle: async () => refusal(error) };
  return (incoming, outgoing) => void answer(refusing, incoming, outgoing, { url: incoming.url ?? "/" });
}

const STATUS_BY_CODE: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The request's header is too large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request took too long to arrive"],
};

/**
 * Responds to bytes that are not an HTTP request, and closes the connection, whose further bytes cannot be trusted.
 * @param inFlight unfinished responses, oldest first
 */
export function refuseMalformed(
  error: NodeJS.ErrnoException,
  socket: Socket,
  inFlight: Iterable<ServerResponse>,
): void {
  let newest: ServerResponse | undefined;
  for (const outgoing of inFlight) if (outgoing.req.socket === socket) newest = outgoing;
  if (newest?.req.complete) {
    // The invalid bytes came after a valid request, which still gets its response.
    newest.shouldKeepAlive = false;
    return;
  }
  const midAnswer = newest !== undefined && (newest.headersSent || newest.socket === null);
  if (error.code === "ECONNRESET" || !socket.writable || midAnswer) {
    socket.destroy();
    return;
  }
  const [status, message] = STATUS_BY_CODE[error.code ?? ""] ?? [400, "The request is not valid HTTP"];
  const { headers, body } = refusal(new KeelsonError("BAD_REQUEST", status, message));
  const lines = Object.entries({ ...headers, "content-length": Buffer.byteLength(body), connection: "close" });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`);
  socket.destroySoon();
}
