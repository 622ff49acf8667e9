/**
 * Prisma keeps 16 digits of a whole number that is beyond the safe ones, and so rounds it (or makes the greatest double
 * infinite). It takes decimals digit by digit, in whatever object looks like one of decimal.js.
 */
export function exactNumber(value: unknown): unknown {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  const digits = BigInt(value as number).toString();
  return { d: [], e: 0, s: Math.sign(value as number), toFixed: () => digits, toJSON: () => digits };
}
