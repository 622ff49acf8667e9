import { type CallerName, TOKENS } from "./callers.ts";

/** A request before it is encoded; each character of text is one byte. */
export interface Message {
  readonly caller: CallerName;
  readonly method: string;
  readonly target: string;
  /** In addition to Host, Connection, Authorization and, with a body, Content-Type and Content-Length. */
  readonly headers?: readonly string[] | undefined;
  readonly body?: Buffer | undefined;
  /** @default application/json */
  readonly type?: string | undefined;
}

/** The lines before the body. */
export function headLines({
  caller,
  method,
  target,
  headers = [],
  body,
  type = "application/json",
}: Message): string[] {
  const lines = [`${method} ${target} HTTP/1.1`, "Host: fuzz.invalid", "Connection: close"];
  if (caller !== "anonymous") lines.push(`Authorization: Bearer ${TOKENS[caller]}`);
  if (body !== undefined) {
    if (type !== "") lines.push(`Content-Type: ${type}`);
    lines.push(`Content-Length: ${body.length}`);
  }
  return [...lines, ...headers];
}

export function toBytes(message: Message): Buffer {
  return joinLines(headLines(message), message.body);
}

export function joinLines(lines: readonly string[], body: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), body]);
}
