import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { listen } from "../../adapters/listen.ts";

/** A server that answers every list request, and records the requests. */
export interface ListServer {
  readonly baseUrl: string;
  readonly host: string;
  /** Path and query of each request so far, in order. */
  readonly targets: readonly string[];
  readonly headers: readonly IncomingHttpHeaders[];
  /** The ids of each request. */
  ids(): string[][];
}

type Answer = (response: ServerResponse, request: IncomingMessage) => unknown;

/** One record for each requested id. */
export const ownRecords: Answer = (response, { url = "" }) =>
  sendJson(
    response,
    idsOf(url).map((id) => ({ id })),
  );

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

export function idsOf(target: string): string[] {
  return new URL(target, "http://any").searchParams.getAll("id");
}

/** Listens on a free port until the test ends. */
export async function listServer(answer: Answer = ownRecords): Promise<ListServer> {
  const targets: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const port = await listen((request, response) => {
    targets.push(request.url ?? "");
    headers.push(request.headers);
    answer(response, request);
  });
  const host = `127.0.0.1:${port}`;
  return { baseUrl: `http://${host}/api`, host, targets, headers, ids: () => targets.map(idsOf) };
}
