/** JSON text to compare values by, or to hash: of whatever fields hold, 64-bit integers too. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? `${inner}n` : inner));
}
