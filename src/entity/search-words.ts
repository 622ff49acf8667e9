import type { AnyEntity, ColumnDefinition } from "./entity-definition.ts";
import type { Stem } from "./kinds/kind.ts";

/** Search options of a text field: the weight of its hits, and how words are stemmed. */
export interface SearchOptions {
  /** The weight of a hit, compared with other fields. @default 1 */
  readonly weight?: number | undefined;
  /**
   * Returns the stem of a word, which is passed in lower case and without accents: a search for "running" then finds
   * "runs", on every database. @default words match in their own form only
   */
  readonly stem?: Stem | undefined;
}

/** The name of the column with the words of a searchable field. */
export function searchColumnOf(name: string): string {
  return `${name}Words`;
}

/** Maximum number of characters of a text that are searched; below, of one word. */
const MOST_CHARACTERS = 100_000;
const LONGEST_WORD = 64;

/** Replacements for letters that Unicode normalization does not decompose. */
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
/** Scripts without spaces between words: each character is a word. */
const UNSPACED =
  /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}])/gu;

/**
 * Removes upper case and accents. Combining accents are removed first: `normalize` sorts consecutive ones, which takes
 * seconds for a text with very many.
 */
function foldText(text: string): string {
  return text
    .replace(/\p{M}+/gu, "")
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(ONE_OF_THEM, (letter) => LETTERS[letter] as string);
}

/** The distinct words of a text, without upper case and accents, in order. */
export function wordsOf(text: string): readonly string[] {
  const spaced = foldText(text.slice(0, MOST_CHARACTERS)).replace(UNSPACED, " $1 ");
  const words = spaced.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return [...new Set(words.map((word) => [...word].slice(0, LONGEST_WORD).join("")))];
}

/** The form of a stem in the column of words, which no word can have. */
export function stemMark(stem: Stem, word: string): string {
  return `=${wordsOf(stem(word))[0] ?? word}`;
}

/**
 * The words as stored in their column: each is surrounded by spaces, so that a pattern can match the start of a word.
 */
export function storedWords(text: unknown, { field }: ColumnDefinition): string | null {
  if (typeof text !== "string") return null;
  const words = wordsOf(text);
  const stem = field?.search?.stem;
  const stems = stem === undefined ? [] : new Set(words.map((word) => stemMark(stem, word)));
  return ` ${[...words, ...stems].join(" ")} `;
}

/** Adds the words of the searchable fields to data. */
export function withWords<T extends Readonly<Record<string, unknown>>>({ columns }: AnyEntity, data: T): T {
  const found = Object.values(columns).filter(({ role, of }) => role === "words" && data[of as string] !== undefined);
  if (found.length === 0) return data;
  const words = found.map(({ name, of }) => {
    const source = columns[of as string] as ColumnDefinition;
    return [name, storedWords(data[source.name], source)];
  });
  return { ...data, ...Object.fromEntries(words) };
}
