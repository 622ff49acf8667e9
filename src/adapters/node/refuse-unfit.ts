import type { IncomingMessage, Server } from "node:http";
import { KeelsonError } from "../../entity/index.ts";
import { BadRequestError, refusal } from "../../kernel/index.ts";
import { answer } from "./answer-request.ts";
import type { NodeHandler } from "./to-node-handler.ts";

/**
 * Refuses, in the one error shape, what node would refuse without a word: requests without `Host` (RFC 9112 section 3.2),
 * and those that expect what no server does (RFC 9110 section 10.1.1). The server must not require `Host` itself.
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
