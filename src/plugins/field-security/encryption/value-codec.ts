import { isJsonValue } from "../../../entity/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";

/** Values that can be encrypted: text, numbers, booleans, dates, bytes, and JSON arrays and objects. */
export type Encryptable = string | number | bigint | boolean | object;

/** First byte of all values except text. It never occurs in UTF-8, so text that looks like a number stays text. */
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
    // Lists of values that JSON cannot represent. Each item is encoded as if it were encrypted alone.
    tag: "l",
    accepts: Array.isArray,
    write: (items: readonly unknown[]) => JSON.stringify(items.map((item) => encodeValue(item).toString("base64"))),
    read: (text) => (JSON.parse(text) as string[]).map((item) => decodeValue(Buffer.from(item, "base64"))),
  },
];

const BY_TAG = new Map(CODECS.map((codec) => [codec.tag, codec]));
// A byte order mark is kept as part of the text.
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The bytes of a value that are encrypted. Text is plain UTF-8, as other tools write and read it. Other values are
 * 0xFF, a letter for the type, and text.
 * @throws BadRequestError for values that would not be restored exactly: `undefined`, NaN, functions, lone surrogates
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

/** Decodes decrypted bytes; undefined when they are neither UTF-8 nor of a known type. */
export function decodeValue(bytes: Buffer): Encryptable | undefined {
  const isTyped = bytes[0] === TYPED;
  try {
    const text = UTF8.decode(isTyped ? bytes.subarray(1) : bytes);
    return isTyped ? BY_TAG.get(text.charAt(0))?.read(text.slice(1)) : text;
  } catch {
    return undefined;
  }
}

/** Joins texts, each with its length in 4 bytes before its UTF-8, so that ("ab", "c") and ("a", "bc") differ. */
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
 * Decodes padded base64; undefined unless it is canonical and its length is in bounds. Node alone skips invalid
 * characters, and accepts the URL-safe alphabet and missing padding.
 * @param least bytes
 * @param most bytes
 */
export function readCanonicalBase64(text: string, least: number, most: number): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length < least || bytes.length > most || bytes.toString("base64") !== text) return undefined;
  return bytes;
}
