import type { CallerName } from "./callers.ts";

/** A string that is stored once in the world, and who may see it. */
interface Canary {
  readonly text: string;
  readonly readers: readonly CallerName[];
}

const known: Canary[] = [];

/** A canary for whoever is named. */
function plant(text: string, ...readers: readonly CallerName[]): string {
  known.push({ text, readers });
  return text;
}

/** What is secret of somebody. */
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

/** What nobody is ever shown, whatever they ask: hashes, ciphertext, keys, places in code, words of databases. */
const FORBIDDEN: readonly RegExp[] = [
  /\$(?:pbkdf2|scrypt)\$/,
  /(?<![\w.-])k1:[A-Za-z0-9+/]{20,}/,
  /\bat (?:async )?[\w.<>[\] ]*\(?(?:file:|node:|\/)/,
  /node_modules|node:internal|\.[cm]?[jt]s:\d+/,
  /SQLITE_|PrismaClient|\bP[12]0\d\d\b|ECONNRE|libsql|driverAdapter/,
  /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b[^\n]*(?:"|`|\bWHERE\b)/,
];

/**
 * What bytes show that this caller may not see.
 * @param sent what the caller sent: who knows a secret already is not told it
 * @param secrets keys and places that nobody may see
 */
export function leaksIn(shown: string, caller: CallerName, sent: string, secrets: readonly string[]): string[] {
  const canaries = known.filter(({ readers }) => !readers.includes(caller)).map(({ text }) => text);
  const texts = [...canaries, ...secrets].filter((text) => shown.includes(text) && !sent.includes(text));
  const forms = FORBIDDEN.flatMap((form) => {
    const [found] = form.exec(shown) ?? [];
    // What comes after words of the caller's is not theirs.
    return found === undefined || sent.includes(found.slice(0, 10)) ? [] : [found.slice(0, 60)];
  });
  return [...texts, ...forms];
}
