import type { CallerName } from "./callers.ts";

/** A string that is stored exactly once, and the callers that may see it. */
interface Canary {
  readonly text: string;
  readonly readers: readonly CallerName[];
}

const known: Canary[] = [];

/** A canary for the given callers. */
function plant(text: string, ...readers: readonly CallerName[]): string {
  known.push({ text, readers });
  return text;
}

/** A user's secrets. */
export const SECRETS = {
  ann: {
    email: plant("cnrymail.ann@fuzz.invalid", "ann", "root"),
    password: plant("cnrypass.ann"),
    apiToken: plant("cnrytoken.ann"),
    salary: Number(plant("770000101", "root")),
    ssn: plant("cnryssn.ann", "ann", "root"),
    pin: plant("cnrypin.ann"),
    text: plant("cnrytext.ann", "ann"),
    secret: plant("cnrysecret.ann", "ann"),
  },
  bob: {
    email: plant("cnrymail.bob@fuzz.invalid", "bob", "root"),
    password: plant("cnrypass.bob"),
    apiToken: plant("cnrytoken.bob"),
    salary: Number(plant("770000202", "root")),
    ssn: plant("cnryssn.bob", "bob", "root"),
    pin: plant("cnrypin.bob"),
    text: plant("cnrytext.bob", "bob"),
    secret: plant("cnrysecret.bob", "bob"),
  },
} as const;

/** What no caller may ever see: hashes, ciphertext, keys, source locations, database messages. */
const FORBIDDEN: readonly RegExp[] = [
  /\$(?:pbkdf2|scrypt)\$/,
  /(?<![\w.-])k1:[A-Za-z0-9+/]{20,}/,
  /\bat (?:async )?[\w.<>[\] ]*\(?(?:file:|node:|\/)/,
  /node_modules|node:internal|\.[cm]?[jt]s:\d+/,
  /SQLITE_|PrismaClient|\bP[12]0\d\d\b|ECONNRE|libsql|driverAdapter/,
  /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b[^\n]*(?:"|`|\bWHERE\b)/,
];

/**
 * Finds values in a response that this caller may not see.
 * @param sent the request: repeating a secret from it is not a leak
 * @param secrets keys and locations that no caller may see
 */
export function leaksIn(shown: string, caller: CallerName, sent: string, secrets: readonly string[]): string[] {
  const canaries = known.filter(({ readers }) => !readers.includes(caller)).map(({ text }) => text);
  const texts = [...canaries, ...secrets].filter((text) => shown.includes(text) && !sent.includes(text));
  const forms = FORBIDDEN.flatMap((form) => {
    const [found] = form.exec(shown) ?? [];
    // Text that follows the caller's own words does not belong to the caller.
    return found === undefined || sent.includes(found.slice(0, 10)) ? [] : [found.slice(0, 60)];
  });
  return [...texts, ...forms];
}
