import { jsonShapeProblem, type Limits } from "../../../kernel/index.ts";
import { BrokenBody, type GivenRow, givenRow, within } from "./given-row.ts";

/** Rows of a JSON array. @throws BrokenBody */
export function arrayRows(text: AsyncIterable<string>, { bodyBytes, jsonDepth }: Limits): AsyncIterable<GivenRow> {
  return jsonRows(jsonElements(text, bodyBytes), jsonDepth, false);
}

/** Rows of lines of JSON. @throws BrokenBody */
export function lineRows(text: AsyncIterable<string>, { bodyBytes, jsonDepth }: Limits): AsyncIterable<GivenRow> {
  return jsonRows(textLines(text, bodyBytes), jsonDepth, true);
}

/** Replaces the parser's message, which quotes the body. */
const NOT_JSON = "is not valid JSON";

/**
 * Rows from JSON texts, one per text.
 * @param depth the most levels of nested JSON
 * @param standAlone whether the texts are separated independently of their JSON: a text that is not JSON is then
 * refused alone
 * @throws BrokenBody for a text that is not JSON, unless texts stand alone
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

/**
 * Lines of a text that are not blank.
 * @param limit the most characters of one line
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

const QUOTE = 0x22;
const COMMA = 0x2c;
const END = 0x5d;
const BACKSLASH = 0x5c;
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([END, 0x7d]);
const NOT_AN_ARRAY = "cannot be read: the body must be a JSON array";

/**
 * Texts of the elements of a JSON array, so that only one of them is in memory. Only finds where elements end; the
 * caller parses them.
 * @param limit the most characters of one element
 * @throws BrokenBody
 */
async function* jsonElements(text: AsyncIterable<string>, limit: number): AsyncGenerator<string> {
  let isOpen = false;
  let isOver = false;
  let count = 0;
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  let begun = "";
  for await (const piece of text) {
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (!isOpen) {
        if (isSpace(code)) continue;
        if (isOver || code !== 0x5b) throw new BrokenBody(NOT_AN_ARRAY);
        isOpen = true;
        from = at + 1;
      } else if (inString) {
        if (isEscaped) isEscaped = false;
        else if (code === BACKSLASH) isEscaped = true;
        else if (code === QUOTE) inString = false;
      } else if (code === QUOTE) inString = true;
      else if (OPEN.has(code)) depth++;
      else if (CLOSE.has(code) && depth > 0) depth--;
      else if (depth === 0 && (code === COMMA || code === END)) {
        const element = begun + piece.slice(from, at);
        const isLast = code !== COMMA;
        begun = "";
        from = at + 1;
        if (isLast) {
          isOpen = false;
          isOver = true;
        }
        if (isLast && count === 0 && element.trim() === "") continue;
        count++;
        yield within(element, limit);
      }
    }
    if (isOpen) begun = within(begun + piece.slice(from), limit);
  }
  if (!isOver) throw new BrokenBody(isOpen ? "is cut off: the array has no end" : NOT_AN_ARRAY);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
