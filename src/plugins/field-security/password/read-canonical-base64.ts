/**
 * The bytes that padded base64 stands for; undefined unless it is spelt in the one canonical way, and of a length in
 * bounds. Node by itself skips junk, and takes url-safe letters and lost padding.
 * @param least bytes
 * @param most bytes
 */
export function readCanonicalBase64(text: string, least: number, most: number): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length < least || bytes.length > most || bytes.toString("base64") !== text) return undefined;
  return bytes;
}
