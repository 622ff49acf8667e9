import { CsvError, parse } from "csv-parse";
import { BrokenBody, rowTooLarge } from "./broken-body.ts";

const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "has a quote that is never closed",
  INVALID_OPENING_QUOTE: "has a quote inside a cell; put the whole cell in quotes, and double those in it",
  CSV_INVALID_CLOSING_QUOTE: "has text after a closing quote",
};

/** What the parser gives: the cells, and the text that they were. */
interface Parsed {
  readonly record: readonly string[];
  readonly raw: string;
}

const LINE_END = /\r?\n$/;
/** One cell of a record that is known to be well-formed, with the comma before the next one. */
const CELL = /(?:"[^"]*(?:""[^"]*)*"|[^,]*)(?:,|$)/gy;

/** The cells of a record; null for one that has no text at all, not even an empty one in quotes. */
export type CsvRecord = readonly (string | null)[];

/**
 * Records of a CSV text (RFC 4180), the header among them; lines may also end in a line feed alone.
 * @param limit characters of one record at most
 * @throws BrokenBody, after all records that come before the place where it breaks
 */
export async function* csvRecords(text: AsyncIterable<string>, limit: number): AsyncGenerator<CsvRecord> {
  const found: CsvRecord[] = [];
  // Records are taken as they are found: those that wait in a stream are gone when a later one breaks it.
  const parser = parse({
    record_delimiter: ["\r\n", "\n"],
    relax_column_count: true,
    max_record_size: limit,
    // To see which empty cells are in quotes: a `cast`, which is told so, makes reading several times slower.
    raw: true,
    on_record: (parsed: unknown) => void found.push(withNulls(parsed as Parsed)),
  });
  parser.on("error", () => {}).resume(); // what is wrong is told to whoever writes
  /** Everything found after one step, and then what went wrong in it. */
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

/** The cells, with null for the empty ones that have no quotes. */
function withNulls({ record, raw }: Parsed): CsvRecord {
  if (!record.includes("")) return record;
  const cells = raw.includes('""') ? [...raw.replace(LINE_END, "").matchAll(CELL)] : [];
  return record.map((cell, index) => (cell === "" && !cells[index]?.[0].startsWith('"') ? null : cell));
}

/** The parser's own message quotes the body. */
function problem(error: Error, limit: number): Error {
  if (!(error instanceof CsvError)) return error;
  if (error.code === "CSV_MAX_RECORD_SIZE") return rowTooLarge(limit);
  return new BrokenBody(PROBLEMS[error.code] ?? "is not valid CSV");
}
