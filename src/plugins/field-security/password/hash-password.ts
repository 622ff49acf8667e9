import { defaultHasher } from "./default-hasher.ts";

/**
 * Hashes a password with scrypt: `$scrypt$ln=17,r=8,p=1$<salt>$<hash>` (spec 2.4 rule 5). For what no `.password()` field
 * holds; those hash by themselves.
 * @param password 1 to 1,024 bytes of well-formed text, taken exactly as it is
 * @throws BadRequestError for anything else
 * @throws UnavailableError (503) when too many passwords wait
 */
export async function hashPassword(password: string): Promise<string> {
  return defaultHasher.hash(password, { cost: "scrypt" });
}
