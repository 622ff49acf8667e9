import { BadRequestError } from "../../../kernel/index.ts";
import { type GivenRow, givenRow } from "./given-row.ts";

/**
 * Rows from what a caller in the process gives.
 * @throws BadRequestError for what is no list
 */
export async function* rowsOfInput(input: unknown): AsyncGenerator<GivenRow> {
  if (!isList(input)) throw new BadRequestError("An import takes an array of records");
  for await (const row of input) yield givenRow(row, 0);
}

function isList(input: unknown): input is Iterable<unknown> | AsyncIterable<unknown> {
  return typeof input === "object" && input !== null && (Symbol.iterator in input || Symbol.asyncIterator in input);
}
