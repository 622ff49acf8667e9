import type { AnyEntity } from "../../../entity/index.ts";
import type { OperationScope } from "../../../gate/index.ts";
import {
  BadRequestError,
  jsonShapeProblem,
  type KernelBody,
  PayloadTooLargeError,
  UnsupportedMediaTypeError,
} from "../../../kernel/index.ts";
import { BrokenBody, rowTooLarge } from "./broken-body.ts";
import { csvColumns } from "./csv-columns.ts";
import { type CsvRecord, csvRecords } from "./csv-records.ts";
import { type GivenRow, givenRow } from "./given-row.ts";
import { jsonElements } from "./json-elements.ts";

/** Bytes that are looked at in one go. */
const PIECE = 65_536;

/** A body that nobody has parsed. */
type UnreadBody = Exclude<KernelBody, { kind: "parsed" }>;

/**
 * A body's text, piece by piece; a piece never ends within a character.
 * @param limit bytes at most
 * @throws PayloadTooLargeError, BrokenBody for what is not UTF-8 and for NUL characters
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

/** What stands before the NUL is read all the same. */
function* withoutNul(text: string): Generator<string> {
  const end = text.indexOf("\u0000");
  if (end === -1) return yield text;
  yield text.slice(0, end);
  throw new BrokenBody("contains a NUL character");
}

/** The parser's own message quotes the body. */
const NOT_JSON = "is not valid JSON";

/**
 * Rows from JSON texts, one each.
 * @param depth levels of nested JSON at most
 * @param standAlone whether it is known where texts end though one is not JSON: then that one alone is refused
 * @throws BrokenBody for a text that is not JSON, otherwise
 */
async function* jsonRows(texts: AsyncIterable<string>, depth: number, standAlone: boolean): AsyncGenerator<GivenRow> {
  for await (const text of texts) {
    const read = parse(text);
    if (read !== undefined) yield givenRow(read.value, text.length, jsonShapeProblem(read.value, depth));
    else if (standAlone) yield givenRow(undefined, text.length, NOT_JSON);
    else throw new BrokenBody(NOT_JSON);
  }
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** A body to be imported. */
export interface ImportBody {
  readonly scope: OperationScope;
  readonly entity: AnyEntity;
  readonly body: KernelBody | undefined;
  readonly contentType: string;
  readonly headers: { get(name: string): string | null };
  /** Fields that rows must have. */
  readonly needed: readonly string[];
}

type Format = (text: AsyncIterable<string>, from: ImportBody) => AsyncIterable<GivenRow>;

const lines: Format = (text, { scope: { limits } }) =>
  jsonRows(textLines(text, limits.bodyBytes), limits.jsonDepth, true);

const FORMATS: Readonly<Record<string, Format>> = {
  "text/csv": (text, { scope, entity, needed }) =>
    csvRows(csvRecords(text, scope.limits.bodyBytes), (header) => csvColumns(scope, entity, header, needed)),
  "application/json": (text, { scope: { limits } }) =>
    jsonRows(jsonElements(text, limits.bodyBytes), limits.jsonDepth, false),
  "application/x-ndjson": lines,
  "application/ndjson": lines,
  "application/jsonl": lines,
};

/**
 * The rows of a body, read as they are asked for.
 * @throws UnsupportedMediaTypeError, PayloadTooLargeError, BadRequestError
 */
export function readRows(from: ImportBody): AsyncIterable<GivenRow> | Iterable<GivenRow> {
  const { scope, body, contentType, headers } = from;
  const { importBytes, jsonDepth } = scope.limits;
  const format = formatOf(contentType);
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (encoding !== "identity")
    throw new UnsupportedMediaTypeError("Compressed bodies are not accepted; send the body without Content-Encoding");
  if (Number(headers.get("content-length")) > importBytes) throw new PayloadTooLargeError(importBytes);
  if (body === undefined) throw new BadRequestError("The body is empty; send CSV, a JSON array or lines of JSON");
  return body.kind === "parsed" ? parsedRows(body.value, jsonDepth) : format(bodyText(body, importBytes), from);
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

/** What the host's own parser made of the body. */
function* parsedRows(value: unknown, depth: number): Generator<GivenRow> {
  if (!Array.isArray(value)) throw new BadRequestError("The body must be an array of records");
  for (const row of value) yield givenRow(row, 0, jsonShapeProblem(row, depth));
}

/**
 * Lines of a text that are not blank.
 * @param limit characters of one line at most
 * @throws BrokenBody
 */
async function* textLines(text: AsyncIterable<string>, limit: number): AsyncGenerator<string> {
  let begun = "";
  for await (const piece of text) {
    const lines = (begun + piece).split("\n");
    begun = lines.pop() as string;
    for (const line of lines) if (line.trim() !== "") yield within(line, limit);
    within(begun, limit);
  }
  if (begun.trim() !== "") yield begun;
}

function within(text: string, limit: number): string {
  if (text.length > limit) throw rowTooLarge(limit);
  return text;
}

/**
 * Rows from records of CSV, of which the first is the header. Empty lines are none, unless one cell is all there is.
 * @param open makes a header ready to read what follows
 * @throws BadRequestError without a header
 */
async function* csvRows(
  records: AsyncIterable<CsvRecord>,
  open: (header: readonly string[]) => (cells: CsvRecord) => GivenRow,
): AsyncGenerator<GivenRow> {
  let read: ReturnType<typeof open> | undefined;
  let width = 0;
  for await (const cells of records) {
    const isBlank = cells.length === 1 && !cells[0] && width !== 1;
    if (isBlank) continue;
    if (read === undefined) {
      read = open(cells.map((cell) => cell ?? ""));
      width = cells.length;
    } else yield read(cells);
  }
  if (read === undefined) throw new BadRequestError("The body has no header; its first line must name the fields");
}
