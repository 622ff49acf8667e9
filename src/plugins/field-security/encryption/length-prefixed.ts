/** Texts as bytes that say where each ends, so that ("ab", "c") and ("a", "bc") differ: 4 bytes of length, then UTF-8. */
export function lengthPrefixed(parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.byteLength(part));
      return [length, Buffer.from(part)];
    }),
  );
}
