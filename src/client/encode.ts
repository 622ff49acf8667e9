/** Half of a character, which no URL can have. */
const LONE_SURROGATE = /\p{Cs}/u;

/** A text as a part of a URL. @throws TypeError for half a character */
export function encode(text: string): string {
  if (LONE_SURROGATE.test(text)) throw new TypeError("A text with half a character cannot be in a URL");
  return encodeURIComponent(text);
}
