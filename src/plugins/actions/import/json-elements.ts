import { BrokenBody, rowTooLarge } from "./broken-body.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const END = 0x5d;
const BACKSLASH = 0x5c;
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([END, 0x7d]);
const NOT_AN_ARRAY = "cannot be read: the body must be a JSON array";

/**
 * Texts of the elements of a JSON array, so that no more than one of them is in memory. Where they end is all that is
 * looked at; whether they are JSON is for a parser to say.
 * @param limit characters of one element at most
 * @throws BrokenBody
 */
export async function* jsonElements(text: AsyncIterable<string>, limit: number): AsyncGenerator<string> {
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

function within(text: string, limit: number): string {
  if (text.length > limit) throw rowTooLarge(limit);
  return text;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
