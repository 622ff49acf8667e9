import { createHash } from "node:crypto";
import type { Driver } from "../../src/index.ts";
import { sendBytes } from "../support/fuzz/send-bytes.ts";
import { readStrictly } from "../support/fuzz/strict-responses.ts";
import { HOSTS, type HostName, serveOnHosts } from "../support/hosts.ts";
import { FixedTime, openCorpusApp } from "./app.ts";

/** A request; bytes are one character each. */
export interface Sent {
  readonly host: HostName;
  readonly bytes: string;
  readonly isHead: boolean;
}

/** Its response. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Requests that share a database: a later one may read what an earlier one changed. */
const TOGETHER = 100;

/** Number of stored characters of a body. */
const MOST_CHARACTERS = 8_000;

/** Headers that the HTTP server sets and that differ each time. */
const VOLATILE: ReadonlySet<string> = new Set(["date", "connection", "keep-alive", "x-request-id"]);
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;

/** Sends requests one after the other to an app with a fixed clock and fixed ids. */
export async function replay(
  requests: readonly Sent[],
  open: () => Promise<{ readonly driver: Driver; drop(): Promise<void> }>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let start = 0; start < requests.length; start += TOGETHER) {
    const { driver, drop } = await open();
    const time = new FixedTime();
    const api = await openCorpusApp(driver, time);
    const hosts = await serveOnHosts(api);
    for (const [index, request] of requests.slice(start, start + TOGETHER).entries()) {
      time.request = start + index + 1;
      answers.push(await ask(hosts.ports[request.host], request));
    }
    await hosts.close();
    await drop();
  }
  return answers;
}

/** The host for the request with this number. */
export const hostOf = (number: number): HostName => HOSTS[number % HOSTS.length] as HostName;

async function ask(port: number, { bytes, isHead }: Sent): Promise<Answer> {
  const received = await sendBytes(port, Buffer.from(bytes, "latin1"), { packets: 1 });
  const [response] = readStrictly(received, isHead);
  if (response === undefined) return { status: 0, headers: [], body: received.toString("latin1") };
  const headers = [...response.headers]
    .filter(([name]) => !VOLATILE.has(name))
    .map(([name, value]) => `${name}: ${value}`);
  return {
    status: response.status,
    headers: headers
      .map((line) => line.replaceAll(UUID, "<uuid>").replace(/^(ratelimit: .*;t=)\d+$/, "$1<seconds>"))
      .sort(),
    body: shortened(response.body.toString("latin1").replaceAll(UUID, "<uuid>")),
  };
}

/** Descriptions of the whole API are long, so only their digest is stored. */
function shortened(body: string): string {
  if (body.length <= MOST_CHARACTERS) return body;
  return `${body.length} characters, sha256 ${createHash("sha256").update(body, "latin1").digest("hex")}`;
}
