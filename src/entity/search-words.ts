import type { AnyEntity, ColumnDefinition } from "./entity-definition.ts";
import type { Stem } from "./kinds/kind.ts";

/** What a text is searched by: a weight for its hits, and what makes words equal. */
export interface SearchOptions {
  /** How much a hit counts, compared with other fields. @default 1 */
  readonly weight?: number | undefined;
  /**
   * Gives the stem of a word, which comes in lower case and without accents: a search for "running" then finds "runs", on each
   * database. @default words are found in their own form only
   */
  readonly stem?: Stem | undefined;
}

/** Name of the column that holds the words of a searchable field. */
export function searchColumnOf(name: string): string {
  return `${name}Words`;
}

/** Characters of a text that are searched, and of one of its words. */
const MOST_CHARACTERS = 100_000;
const LONGEST_WORD = 64;

/** Letters that have no accent to take away. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
  ς: "σ",
};
const ONE_OF_THEM = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "g");
/** Scripts without spaces between words: each character is one. */
const UNSPACED =
  /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}])/gu;

/**
 * A text without upper case and accents. Accents of their own go first: `normalize` sorts those that follow each other, which
 * takes seconds where a text has very many.
 */
function foldText(text: string): string {
  return text
    .replace(/\p{M}+/gu, "")
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(ONE_OF_THEM, (letter) => LETTERS[letter] as string);
}

/** The words of a text, folded, each once, in their order. */
export function wordsOf(text: string): readonly string[] {
  const spaced = foldText(text.slice(0, MOST_CHARACTERS)).replace(UNSPACED, " $1 ");
  const words = spaced.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return [...new Set(words.map((word) => [...word].slice(0, LONGEST_WORD).join("")))];
}

/** A stem as the column of words holds it: no word is written so. */
export function stemMark(stem: Stem, word: string): string {
  return `=${wordsOf(stem(word))[0] ?? word}`;
}

/** The words as their column holds them: each has a space before and after it, so that a pattern finds its beginning. */
export function storedWords(text: unknown, { field }: ColumnDefinition): string | null {
  if (typeof text !== "string") return null;
  const words = wordsOf(text);
  const stem = field?.search?.stem;
  const stems = stem === undefined ? [] : new Set(words.map((word) => stemMark(stem, word)));
  return ` ${[...words, ...stems].join(" ")} `;
}

/** Data with the words of the searchable fields in it. */
export function withWords<T extends Readonly<Record<string, unknown>>>({ columns }: AnyEntity, data: T): T {
  const found = Object.values(columns).filter(({ role, of }) => role === "words" && data[of as string] !== undefined);
  if (found.length === 0) return data;
  const words = found.map(({ name, of }) => {
    const source = columns[of as string] as ColumnDefinition;
    return [name, storedWords(data[source.name], source)];
  });
  return { ...data, ...Object.fromEntries(words) };
}
