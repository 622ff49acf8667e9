import { isJsonValue } from "../../../entity/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";

/** What can be encrypted: text, numbers, booleans, moments, bytes, and JSON arrays and objects. */
export type Encryptable = string | number | bigint | boolean | object;

/** Begins everything but text. No UTF-8 has this byte, so a text that looks like a number comes back as a text. */
const TYPED = 0xff;

interface TypeCodec {
  readonly tag: string;
  accepts(value: unknown): boolean;
  write(value: never): string;
  read(text: string): Encryptable;
}

const CODECS: readonly TypeCodec[] = [
  {
    tag: "n",
    accepts: Number.isFinite,
    write: (value: number) => (Object.is(value, -0) ? "-0" : String(value)),
    read: Number,
  },
  { tag: "b", accepts: (value) => typeof value === "boolean", write: String, read: (text) => text === "true" },
  {
    tag: "d",
    accepts: (value) => value instanceof Date && !Number.isNaN(value.getTime()),
    write: (value: Date) => value.toISOString(),
    read: (text) => new Date(text),
  },
  { tag: "i", accepts: (value) => typeof value === "bigint", write: String, read: BigInt },
  {
    tag: "y",
    accepts: (value) => value instanceof Uint8Array,
    write: (value: Uint8Array) => Buffer.from(value).toString("base64"),
    read: (text) => new Uint8Array(Buffer.from(text, "base64")),
  },
  {
    tag: "j",
    accepts: (value) => typeof value === "object" && value !== null && isJsonValue(value),
    write: (value: object) => JSON.stringify(value),
    read: JSON.parse,
  },
  {
    // Lists of values that JSON has no form for: each item as it would be encrypted by itself.
    tag: "l",
    accepts: Array.isArray,
    write: (items: readonly unknown[]) => JSON.stringify(items.map((item) => encodeValue(item).toString("base64"))),
    read: (text) => (JSON.parse(text) as string[]).map((item) => decodeValue(Buffer.from(item, "base64"))),
  },
];

const BY_TAG = new Map(CODECS.map((codec) => [codec.tag, codec]));
// A byte order mark is part of the text.
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * A value as the bytes that are encrypted. Text is its UTF-8 and nothing else, as other tools write and read it; all
 * else is 0xFF, a letter for the type, and text.
 * @throws BadRequestError for what would not come back the same: `undefined`, NaN, functions, lone surrogates
 */
export function encodeValue(value: unknown): Buffer {
  if (typeof value === "string" && value.isWellFormed()) return Buffer.from(value);
  const codec = CODECS.find(({ accepts }) => accepts(value));
  if (codec === undefined)
    throw new BadRequestError(
      "This value cannot be encrypted; well-formed text, finite numbers, booleans, dates and JSON can",
    );
  return Buffer.concat([Buffer.from([TYPED]), Buffer.from(codec.tag + codec.write(value as never))]);
}

/** The value of decrypted bytes; undefined when they are neither UTF-8 nor of a type known here. */
export function decodeValue(bytes: Buffer): Encryptable | undefined {
  const isTyped = bytes[0] === TYPED;
  try {
    const text = UTF8.decode(isTyped ? bytes.subarray(1) : bytes);
    return isTyped ? BY_TAG.get(text.charAt(0))?.read(text.slice(1)) : text;
  } catch {
    return undefined;
  }
}

/** Texts as bytes that say where each ends, so that ("ab", "c") and ("a", "bc") differ: 4 bytes of length, then UTF-8. */
export function lengthPrefixed(parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.byteLength(part));
      return [length, Buffer.from(part)];
    }),
  );
}

/**
 * The bytes that padded base64 stands for; undefined unless it is spelt in the one canonical way, and of a length in
 * bounds. Node by itself skips junk, and takes url-safe letters and lost padding.
 * @param least bytes
 * @param most bytes
 */
export function readCanonicalBase64(text: string, least: number, most: number): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length < least || bytes.length > most || bytes.toString("base64") !== text) return undefined;
  return bytes;
}
