import { rowTooLarge } from "./broken-body.ts";

/**
 * Lines of a text that are not blank.
 * @param limit characters of one line at most
 * @throws BrokenBody
 */
export async function* textLines(text: AsyncIterable<string>, limit: number): AsyncGenerator<string> {
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
