/** A response that follows RFC 9112 strictly. */
export interface StrictResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\t\x20-\x7e\x80-\xff]*$/;
const HEADER_LINE =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?)[ \t]*$/;
const CHUNK_SIZE = /^[0-9a-f]+$/i;

/** The reason why bytes are not valid responses. */
export class NotHttpError extends Error {}

function end(bytes: Buffer, mark: string, from: number): number {
  const at = bytes.indexOf(mark, from);
  if (at === -1) throw new NotHttpError(`no ${JSON.stringify(mark)} after byte ${from}`);
  return at;
}

/**
 * Parses everything a server has sent on a connection that it has closed, without interim responses.
 * @param isHead the only request was HEAD
 * @throws NotHttpError for anything that RFC 9112 does not allow
 */
export function readStrictly(bytes: Buffer, isHead: boolean): StrictResponse[] {
  const responses: StrictResponse[] = [];
  for (let at = 0; at < bytes.length; ) {
    const headEnd = end(bytes, "\r\n\r\n", at);
    const [statusLine = "", ...lines] = bytes.toString("latin1", at, headEnd).split("\r\n");
    const code = STATUS_LINE.exec(statusLine)?.[1];
    if (code === undefined) throw new NotHttpError(`status line ${JSON.stringify(statusLine)}`);
    const status = Number(code);
    const headers = headersOf(lines);
    at = headEnd + 4;
    if (status < 200) continue;
    // A request that is too long or not HTTP is refused before its method is known.
    const isUnread = (status === 400 || status === 431) && at < bytes.length;
    const isBodyless = (isHead && !isUnread) || status === 204 || status === 304;
    const { body, after } = isBodyless ? { body: Buffer.alloc(0), after: at } : takeBody(bytes, at, headers);
    responses.push({ status, headers, body });
    at = after;
  }
  return responses;
}

function headersOf(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value = ""] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined) throw new NotHttpError(`header line ${JSON.stringify(line)}`);
    const key = name.toLowerCase();
    if (headers.has(key) && key !== "set-cookie") throw new NotHttpError(`two lines of ${key}`);
    headers.set(key, value);
  }
  if (headers.has("content-length") && headers.has("transfer-encoding"))
    throw new NotHttpError("both Content-Length and Transfer-Encoding");
  return headers;
}

interface Taken {
  readonly body: Buffer;
  readonly after: number;
}

function takeBody(bytes: Buffer, at: number, headers: ReadonlyMap<string, string>): Taken {
  const length = headers.get("content-length");
  if (headers.get("transfer-encoding") === "chunked") return takeChunks(bytes, at);
  if (length === undefined) {
    if (headers.get("connection") !== "close") throw new NotHttpError("a body without any framing");
    return { body: bytes.subarray(at), after: bytes.length };
  }
  const after = at + Number(length);
  if (!/^\d+$/.test(length) || after > bytes.length) throw new NotHttpError(`fewer bytes than ${length}`);
  return { body: bytes.subarray(at, after), after };
}

function takeChunks(bytes: Buffer, start: number): Taken {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = end(bytes, "\r\n", at);
    const line = bytes.toString("latin1", at, lineEnd);
    if (!CHUNK_SIZE.test(line)) throw new NotHttpError(`chunk size ${JSON.stringify(line)}`);
    const from = lineEnd + 2;
    const to = from + Number.parseInt(line, 16);
    if (bytes.toString("latin1", to, to + 2) !== "\r\n") throw new NotHttpError("a chunk without an end");
    at = to + 2;
    if (to === from) return { body: Buffer.concat(chunks), after: at };
    chunks.push(bytes.subarray(from, to));
  }
}
