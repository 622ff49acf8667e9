import type { HostName } from "../hosts.ts";
import { type Message, toBytes } from "./message.ts";
import { sendBytes } from "./send-bytes.ts";
import { readStrictly, type StrictResponse } from "./strict-responses.ts";
import type { FuzzWorld } from "./world.ts";

/** The exact response to one request, with its body parsed if it is JSON. */
export interface Asked extends StrictResponse {
  // biome-ignore lint/suspicious/noExplicitAny: a response has no type before a test has checked it
  readonly json: any;
}

/** Sends one request of a caller to a host, as bytes. */
export async function ask(world: FuzzWorld, message: Message, host: HostName = "node"): Promise<Asked> {
  const bytes = await sendBytes(world.ports[host], toBytes(message), { packets: 1 });
  const [response, ...more] = readStrictly(bytes, message.method === "HEAD");
  if (response === undefined || more.length > 0) throw new Error(`${more.length + 1} answers, or none`);
  const isJson = /[/+]json\b/.test(response.headers.get("content-type") ?? "") && response.body.length > 0;
  return { ...response, json: isJson ? JSON.parse(response.body.toString()) : undefined };
}
