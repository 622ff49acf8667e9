import type { AnyEntity } from "../../../entity/index.ts";
import {
  BadRequestError,
  jsonShapeProblem,
  type KernelBody,
  type OperationScope,
  PayloadTooLargeError,
  UnsupportedMediaTypeError,
} from "../../../kernel/index.ts";
import { bodyText } from "./body-text.ts";
import { csvColumns } from "./csv-columns.ts";
import { csvRecords } from "./csv-records.ts";
import { csvRows } from "./csv-rows.ts";
import { type GivenRow, givenRow } from "./given-row.ts";
import { jsonElements } from "./json-elements.ts";
import { jsonRows } from "./json-rows.ts";
import { textLines } from "./text-lines.ts";

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
