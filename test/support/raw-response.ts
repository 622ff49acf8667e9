/** A response as received. */
export interface RawResponse {
  readonly status: number;
  /** The reason phrase of the status line. */
  readonly reason: string;
  /** Names in lower case, in order of arrival; repeated lines are kept. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Bytes after the header, without chunk framing. */
  readonly bytes: Buffer;
  /** The same as UTF-8. */
  readonly body: string;
  /** Whether the body is complete. */
  readonly complete: boolean;
}

/** All values of a header, joined; undefined when the header is absent. */
export function headerOf({ headers }: RawResponse, wanted: string): string | undefined {
  const values = headers.filter(([name]) => name === wanted).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(", ");
}

/**
 * Splits a server's output into responses. Interim responses (1xx) are left out.
 * @param bodyless the request was HEAD, so the response has no body although its header announces one
 */
export function parseResponses(bytes: Buffer, bodyless = false): RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) throw new Error(`No end of header in ${JSON.stringify(rest.toString("latin1"))}`);
    const [statusLine = "", ...lines] = rest.toString("latin1", 0, end).split("\r\n");
    const [, code, reason = ""] = /^HTTP\/1\.1 (\d{3}) ?(.*)/.exec(statusLine) ?? [];
    const status = Number(code);
    const headers = lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    });
    rest = rest.subarray(end + 4);
    if (status >= 100 && status < 200) continue;
    const { body, after, complete } = takeBody(rest, bodyless ? new Map() : new Map(headers));
    responses.push({ status, reason, headers, bytes: body, body: body.toString(), complete });
    rest = after;
  }
  return responses;
}

interface Taken {
  readonly body: Buffer;
  readonly after: Buffer;
  readonly complete: boolean;
}

function takeBody(bytes: Buffer, headers: ReadonlyMap<string, string>): Taken {
  if (headers.get("transfer-encoding") !== "chunked") {
    const length = Number(headers.get("content-length") ?? 0);
    return { body: bytes.subarray(0, length), after: bytes.subarray(length), complete: bytes.length >= length };
  }
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    at = lineEnd + 2 + size + 2;
    if (size === 0) return { body: Buffer.concat(chunks), after: bytes.subarray(at), complete: true };
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
  }
  return { body: Buffer.concat(chunks), after: bytes.subarray(bytes.length), complete: false };
}
