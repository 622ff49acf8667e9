import {
  BadRequestError,
  jsonShapeProblem,
  type KernelBody,
  PayloadTooLargeError,
  UnsupportedMediaTypeError,
} from "../../../kernel/index.ts";
import type { ActionContext } from "../action/action-definition.ts";
import { csvRows } from "./csv-rows.ts";
import { BrokenBody, type GivenRow, givenRow } from "./given-row.ts";
import { arrayRows, lineRows } from "./json-rows.ts";

type ImportSource = Pick<ActionContext, "scope" | "entity" | "body" | "contentType" | "headers">;
type Format = (text: AsyncIterable<string>, from: ImportSource, needed: readonly string[]) => AsyncIterable<GivenRow>;

const jsonLines: Format = (text, { scope }) => lineRows(text, scope.app.limits);

const FORMATS: Readonly<Record<string, Format>> = {
  "text/csv": (text, { scope, entity }, needed) => csvRows(text, scope, entity, needed),
  "application/json": (text, { scope }) => arrayRows(text, scope.app.limits),
  "application/x-ndjson": jsonLines,
  "application/ndjson": jsonLines,
  "application/jsonl": jsonLines,
};

/**
 * The rows of a body, read on demand.
 * @param needed required fields of each row
 * @throws UnsupportedMediaTypeError, PayloadTooLargeError, BadRequestError
 */
export function readRows(from: ImportSource, needed: readonly string[]): AsyncIterable<GivenRow> | Iterable<GivenRow> {
  const { scope, body, contentType, headers } = from;
  const { importBytes, jsonDepth } = scope.app.limits;
  const format = formatOf(contentType);
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (encoding !== "identity")
    throw new UnsupportedMediaTypeError("Compressed bodies are not accepted; send the body without Content-Encoding");
  if (Number(headers.get("content-length")) > importBytes) throw new PayloadTooLargeError(importBytes);
  if (body === undefined) throw new BadRequestError("The body is empty; send CSV, a JSON array or lines of JSON");
  if (body.kind === "parsed") return parsedRows(body.value, jsonDepth);
  return format(bodyText(body, importBytes), from, needed);
}

function formatOf(contentType: string): Format {
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim());
  const charset = parameters
    .find((part) => part.startsWith("charset="))
    ?.slice(8)
    .replaceAll('"', "");
  const format = Object.hasOwn(FORMATS, type) ? FORMATS[type] : undefined;
  if (format === undefined)
    throw new UnsupportedMediaTypeError(`The body must have one of the types ${Object.keys(FORMATS).join(", ")}`);
  if (charset !== undefined && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii")
    throw new UnsupportedMediaTypeError("The body must be UTF-8");
  return format;
}

/** Rows of a body that the host has already parsed. */
function* parsedRows(value: unknown, depth: number): Generator<GivenRow> {
  if (!Array.isArray(value)) throw new BadRequestError("The body must be an array of records");
  for (const row of value) yield givenRow(row, 0, jsonShapeProblem(row, depth));
}

const PIECE = 65_536;

type UnreadBody = Exclude<KernelBody, { kind: "parsed" }>;

/**
 * The text of a body, piece by piece; a piece never ends within a character.
 * @param limit the most bytes of the body
 * @throws PayloadTooLargeError; BrokenBody for bytes that are not UTF-8 and for NUL characters
 */
async function* bodyText(body: UnreadBody, limit: number): AsyncGenerator<string> {
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

/** Yields the text before the first NUL character, then throws. */
function* withoutNul(text: string): Generator<string> {
  const end = text.indexOf("\u0000");
  if (end === -1) return yield text;
  yield text.slice(0, end);
  throw new BrokenBody("contains a NUL character");
}
