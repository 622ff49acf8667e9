import { type KernelBody, PayloadTooLargeError } from "../../../kernel/index.ts";
import { BrokenBody } from "./broken-body.ts";

/** Bytes that are looked at in one go. */
const PIECE = 65_536;

/** A body that nobody has parsed. */
export type UnreadBody = Exclude<KernelBody, { kind: "parsed" }>;

/**
 * A body's text, piece by piece; a piece never ends within a character.
 * @param limit bytes at most
 * @throws PayloadTooLargeError, BrokenBody for what is not UTF-8 and for NUL characters
 */
export async function* bodyText(body: UnreadBody, limit: number): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let size = 0;
  for await (const bytes of pieces(body)) {
    size += bytes.byteLength;
    if (size > limit) throw new PayloadTooLargeError(limit);
    yield* withoutNul(decode(() => decoder.decode(bytes, { stream: true })));
  }
  decode(() => decoder.decode());
}

async function* pieces(body: UnreadBody): AsyncGenerator<Uint8Array> {
  if (body.kind === "stream") return yield* body.stream;
  const bytes = body.kind === "bytes" ? body.bytes : new TextEncoder().encode(body.text);
  for (let start = 0; start < bytes.byteLength; start += PIECE) yield bytes.subarray(start, start + PIECE);
}

function decode(read: () => string): string {
  try {
    return read();
  } catch {
    throw new BrokenBody("is not valid UTF-8");
  }
}

/** What stands before the NUL is read all the same. */
function* withoutNul(text: string): Generator<string> {
  const end = text.indexOf("\u0000");
  if (end === -1) return yield text;
  yield text.slice(0, end);
  throw new BrokenBody("contains a NUL character");
}
