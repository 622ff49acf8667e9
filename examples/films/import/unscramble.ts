/** Wrong and right characters: those that Mac Roman and Windows-1252 have for the same byte. */
const INTENDED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Ö: "…",
    Ω: "½",
    "‡": "à",
    "·": "á",
    "‰": "ä",
    Ë: "è",
    È: "é",
    Í: "ê",
    Î: "ë",
    Û: "ó",
    Ù: "ô",
    "˘": "ù",
  }),
);

/**
 * Accented titles of the data set are Windows-1252 text that was once read as Mac Roman: "LÈon" is "Léon", "pi˘" is
 * "più". That explains 18 titles completely; a title with an unexplained character ("Alien³") stays unchanged.
 */
export function unscramble(text: string): string {
  const characters = [...text];
  const isExplained = characters.every((character) => character <= "\u007f" || INTENDED.has(character));
  return isExplained ? characters.map((character) => INTENDED.get(character) ?? character).join("") : text;
}
