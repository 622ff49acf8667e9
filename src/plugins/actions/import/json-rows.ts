import { jsonShapeProblem } from "../../../kernel/index.ts";
import { BrokenBody } from "./broken-body.ts";
import { type GivenRow, givenRow } from "./given-row.ts";

/** The parser's own message quotes the body. */
const NOT_JSON = "is not valid JSON";

/**
 * Rows from JSON texts, one each.
 * @param depth levels of nested JSON at most
 * @param standAlone whether it is known where texts end though one is not JSON: then that one alone is refused
 * @throws BrokenBody for a text that is not JSON, otherwise
 */
export async function* jsonRows(
  texts: AsyncIterable<string>,
  depth: number,
  standAlone: boolean,
): AsyncGenerator<GivenRow> {
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
