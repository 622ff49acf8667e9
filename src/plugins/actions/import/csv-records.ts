import { CsvError, parse } from "csv-parse";
import { BrokenBody, rowTooLarge } from "./broken-body.ts";

const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "has a quote that is never closed",
  INVALID_OPENING_QUOTE: "has a quote inside a cell; put the whole cell in quotes, and double those in it",
  CSV_INVALID_CLOSING_QUOTE: "has text after a closing quote",
};

/**
 * Records of a CSV text (RFC 4180), the header among them; lines may also end in a line feed alone.
 * @param limit characters of one record at most
 * @throws BrokenBody, after all records that come before the place where it breaks
 */
export async function* csvRecords(text: AsyncIterable<string>, limit: number): AsyncGenerator<readonly string[]> {
  const found: string[][] = [];
  // Records are taken as they are found: those that wait in a stream are gone when a later one breaks it.
  const parser = parse({
    record_delimiter: ["\r\n", "\n"],
    relax_column_count: true,
    max_record_size: limit,
    on_record: (record: string[]) => void found.push(record),
  });
  parser.on("error", () => {}).resume(); // what is wrong is told to whoever writes
  /** Everything found after one step, and then what went wrong in it. */
  async function* after(step: (done: (error?: Error | null) => void) => void): AsyncGenerator<readonly string[]> {
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

/** The parser's own message quotes the body. */
function problem(error: Error, limit: number): Error {
  if (!(error instanceof CsvError)) return error;
  if (error.code === "CSV_MAX_RECORD_SIZE") return rowTooLarge(limit);
  return new BrokenBody(PROBLEMS[error.code] ?? "is not valid CSV");
}
