import type { CallerName } from "../protected/truth.ts";
import { send } from "../send.ts";
import type { Answer, SentInit, Target } from "./probe.ts";

/** Sends a request as a caller and reads the response, with any status. */
export async function sendAs(
  { url, tokens }: Target,
  caller: CallerName,
  method: string,
  path: string,
  { body, raw, headers: given, token = tokens[caller] }: SentInit = {},
): Promise<Answer> {
  const headers: Record<string, string> = { ...given };
  if (token !== undefined) headers.authorization ??= `Bearer ${token}`;
  if (body !== undefined || raw !== undefined) headers["content-type"] ??= "application/json";
  const sent = raw ?? (body === undefined ? null : JSON.stringify(body));
  const answered = await send(url + path, method, headers, sent);
  const isJson = /[/+]json\b/.test(answered.headers.get("content-type") ?? "");
  const json = isJson && answered.text !== "" ? JSON.parse(answered.text) : undefined;
  return { ...answered, json };
}
