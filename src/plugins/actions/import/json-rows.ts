import { jsonShapeProblem } from "../../../kernel/index.ts";
import { BrokenBody } from "./broken-body.ts";
import { type GivenRow, givenRow } from "./given-row.ts";

/**
 * Rows from JSON texts, one each.
 * @param depth levels of nested JSON at most
 * @throws BrokenBody for a text that is not JSON
 */
export async function* jsonRows(texts: AsyncIterable<string>, depth: number): AsyncGenerator<GivenRow> {
  for await (const text of texts) {
    const value = parse(text);
    yield givenRow(value, text.length, jsonShapeProblem(value, depth));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body.
    throw new BrokenBody("is not valid JSON");
  }
}
