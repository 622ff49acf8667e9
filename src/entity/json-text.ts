/** Converts a value of any field to JSON text for comparing or hashing; supports 64-bit integers. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? `${inner}n` : inner));
}
