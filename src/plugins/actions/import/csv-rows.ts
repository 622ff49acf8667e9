import { CsvError, parse } from "csv-parse";
import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import type { OperationScope } from "../../../gate/index.ts";
import { BadRequestError, didYouMean, jsonShapeProblem, shownName } from "../../../kernel/index.ts";
import { BrokenBody, type GivenRow, rowTooLarge } from "./given-row.ts";

/** The cells of a record. Null for an empty cell without quotes; a quoted empty cell is "". */
type CsvRecord = readonly (string | null)[];

/**
 * Rows of a CSV text, whose first record is the header. Empty lines are skipped.
 * @param needed required columns
 * @throws BadRequestError without a header, BrokenBody
 */
export async function* csvRows(
  text: AsyncIterable<string>,
  scope: OperationScope,
  entity: AnyEntity,
  needed: readonly string[],
): AsyncGenerator<GivenRow> {
  let read: ((cells: CsvRecord) => GivenRow) | undefined;
  let width = 0;
  for await (const cells of csvRecords(text, scope.app.limits.bodyBytes)) {
    if (cells.length === 1 && !cells[0] && (cells[0] === null || width !== 1)) continue;
    if (read === undefined) {
      const header = cells.map((cell) => cell ?? "");
      read = csvColumns(scope, entity, header, needed);
      width = cells.length;
    } else yield read(cells);
  }
  if (read === undefined) throw new BadRequestError("The body has no header; its first line must name the fields");
}

/** Reads the value of a cell; undefined when it has no value. */
type ReadCell = (cell: string | null, refuse: (message: string) => void) => unknown;

/** The most problems that are reported for one header. */
const MAX_PROBLEMS = 20;
/**
 * Reads rows of cells by the kinds of the fields that the header names. The caller's mask must be final.
 * @param needed required columns
 * @throws BadRequestError for names that are unknown, repeated or missing
 */
function csvColumns(
  scope: OperationScope,
  entity: AnyEntity,
  header: readonly string[],
  needed: readonly string[],
): (cells: CsvRecord) => GivenRow {
  const known = cellReaders(scope, entity);
  checkHeader(header, known, [...scope.access.mask(entity).writable]);
  const missing = needed.find((name) => !header.includes(name));
  if (missing !== undefined) throw new BadRequestError(`The header has no "${missing}", which tells records apart`);
  const readers = header.map((name) => [name, known.get(name) as ReadCell] as const);
  return (cells) => {
    const data: Record<string, unknown> = {};
    const errors: Record<string, string> = {};
    if (cells.length !== header.length) errors._ = `has ${cells.length} cells, and the header has ${header.length}`;
    let size = 0;
    for (const [index, [name, read]] of readers.entries()) {
      const cell = cells[index] ?? null;
      size += cell?.length ?? 0;
      const value = read(cell, (message) => (errors[name] = message));
      if (value !== undefined) data[name] = value;
    }
    return { data, size, ...(Object.keys(errors).length === 0 ? {} : { errors }) };
  };
}

function checkHeader(
  header: readonly string[],
  known: ReadonlyMap<string, unknown>,
  suggested: readonly string[],
): void {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const name of header) {
    if (!known.has(name))
      problems.push(`"${shownName(name)}" in the header is not a field.${didYouMean(name, suggested)}`);
    else if (seen.has(name)) problems.push(`"${name}" is in the header twice.`);
    if (problems.length === MAX_PROBLEMS) break;
    seen.add(name);
  }
  if (problems.length > 0) throw new BadRequestError(problems.join(" "));
}

/**
 * Readers by column name, for all columns that the caller may read or write. The gate refuses fields they may not
 * write.
 */
function cellReaders(scope: OperationScope, entity: AnyEntity): ReadonlyMap<string, ReadCell> {
  const { jsonDepth } = scope.app.limits;
  const { readable, writable } = scope.access.mask(entity);
  const readers = new Map<string, ReadCell>();
  for (const [name, { type }] of Object.entries(entity.relations))
    if (type === "manyToMany") readers.set(`${name}Ids`, (cell, refuse) => readJson(cell ?? "", jsonDepth, refuse));
  for (const column of Object.values(entity.columns)) {
    const { name, role, of } = column;
    const isShown = scope.principal.kind === "system" || readable.has(name) || writable.has(name);
    if (of === undefined && (isShown || role === "id")) readers.set(name, cellReader(column, jsonDepth));
  }
  return readers;
}

function cellReader(column: ColumnDefinition, depth: number): ReadCell {
  const { kind, optional } = column;
  const { scalar } = kind.column;
  const none = optional ? null : undefined;
  const quoted = takesEmptyText(column) ? "" : none;
  return (cell, refuse) => {
    if (cell === null) return none;
    if (cell === "") return quoted;
    if (scalar === "Json") return readJson(cell, depth, refuse);
    const read = (kind.fromCell ?? kind.parse)(cell);
    return read.ok ? read.value : cell; // validation refuses it, together with all other problems of the row
  };
}

/**
 * Whether a quoted empty cell is an empty text. Some programs quote all cells, so it is one only in fields that accept
 * an empty text and are not unique.
 */
function takesEmptyText({ kind, field, unique }: ColumnDefinition): boolean {
  if (field === undefined || unique) return false;
  const { scalar } = kind.column;
  return (scalar === "String" || scalar === "Bytes") && kind.schema(field).safeParse("").success;
}

function readJson(text: string, depth: number, refuse: (message: string) => void): unknown {
  if (text === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const problem = jsonShapeProblem(value, depth);
    if (problem !== undefined) refuse(problem);
    return value;
  } catch {
    refuse("must be JSON");
    return undefined;
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "has a quote that is never closed",
  INVALID_OPENING_QUOTE: "has a quote inside a cell; put the whole cell in quotes, and double those in it",
  CSV_INVALID_CLOSING_QUOTE: "has text after a closing quote",
};

interface Parsed {
  readonly record: readonly string[];
  readonly raw: string;
}

const LINE_END = /\r?\n$/;
/** One cell of a well-formed record, with the comma after it. */
const CELL = /(?:"[^"]*(?:""[^"]*)*"|[^,]*)(?:,|$)/gy;

/**
 * Records of a CSV text (RFC 4180), including the header. Lines may also end with a line feed alone.
 * @param limit the most characters of one record
 * @throws BrokenBody, after all records before the place where the text breaks
 */
async function* csvRecords(text: AsyncIterable<string>, limit: number): AsyncGenerator<CsvRecord> {
  const found: CsvRecord[] = [];
  // Records are collected as they are found: records that wait in the stream are lost when a later one breaks it.
  const parser = parse({
    record_delimiter: ["\r\n", "\n"],
    relax_column_count: true,
    max_record_size: limit,
    // Shows which empty cells are quoted. A `cast` function would know it too, but makes parsing several times slower.
    raw: true,
    on_record: (parsed: unknown) => void found.push(withNulls(parsed as Parsed)),
  });
  parser.on("error", () => {}).resume(); // the writer receives the error
  /** Yields the records found in one step, then throws the error of that step. */
  async function* after(step: (done: (error?: Error | null) => void) => void): AsyncGenerator<CsvRecord> {
    const failure = await new Promise<Error | null | undefined>((resolve) => step(resolve));
    yield* found.splice(0);
    if (failure) throw problem(failure, limit);
  }
  try {
    for await (const piece of text) yield* after((done) => parser.write(piece, done));
    yield* after((done) => parser.end(done));
  } finally {
    parser.destroy();
  }
}

/** The cells of a record, with null for empty cells without quotes. */
function withNulls({ record, raw }: Parsed): CsvRecord {
  if (!record.includes("")) return record;
  const cells = raw.includes('""') ? [...raw.replace(LINE_END, "").matchAll(CELL)] : [];
  return record.map((cell, index) => (cell === "" && !cells[index]?.[0].startsWith('"') ? null : cell));
}

/** Replaces the parser's message, which quotes the body. */
function problem(error: Error, limit: number): Error {
  if (!(error instanceof CsvError)) return error;
  if (error.code === "CSV_MAX_RECORD_SIZE") return rowTooLarge(limit);
  return new BrokenBody(PROBLEMS[error.code] ?? "is not valid CSV");
}
