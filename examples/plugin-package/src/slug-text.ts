/** How slugs of one field are written. */
export interface SlugStyle {
  readonly separator: string;
  readonly maxLength: number;
  /** The slug of a text without letters and digits. */
  readonly fallback: string;
  /** Converts text to letters that slugs may contain. */
  readonly transliterate: (text: string) => string;
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Inside words: "it's" is one. */
const APOSTROPHE = /['’]/g;
/** Marks above and below Latin letters, as NFKD has them on their own. In other scripts they are part of the word. */
const LATIN_MARK = /(?<=\p{Script=Latin})\p{M}+/gu;

/** Removes accents from Latin letters; other letters stay unchanged. */
export function withoutAccents(text: string): string {
  return text.normalize("NFKD").replace(LATIN_MARK, "").normalize("NFC");
}

/** The slug of a text, without a check whether it is free: words in lower case, cut between characters. */
export function slugText(text: string, { separator, maxLength, fallback, transliterate }: SlugStyle): string {
  const words = transliterate(text).toLowerCase().replace(APOSTROPHE, "").match(WORD) ?? [];
  return cut(words.join(separator), maxLength, separator) || fallback;
}

/** A slug followed by a number or other text. */
export function withSuffix(slug: string, suffix: string, { separator, maxLength }: SlugStyle): string {
  return `${cut(slug, maxLength - suffix.length - separator.length, separator)}${separator}${suffix}`;
}

function cut(slug: string, length: number, separator: string): string {
  if (slug.length <= length) return slug;
  const short = slug.slice(0, length).replace(/[\uD800-\uDBFF]$/, ""); // half a character
  return short.endsWith(separator) ? short.slice(0, -separator.length) : short;
}
