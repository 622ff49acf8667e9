/** Those that tell "a", "A" and "a " apart: MariaDB's, and that of MySQL 8. */
export const EXACT_COLLATIONS = ["utf8mb4_nopad_bin", "utf8mb4_0900_bin"] as const;
export type ExactCollation = (typeof EXACT_COLLATIONS)[number];

/** The one that a server has, by what it says of its version. */
export function exactCollation(version: unknown): ExactCollation {
  return /MariaDB/i.test(String(version)) ? EXACT_COLLATIONS[0] : EXACT_COLLATIONS[1];
}
