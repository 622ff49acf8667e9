import { randomBytes } from "node:crypto";
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigurationError, generateEncryptionKey } from "keelson";
import { type PersonId, people } from "./people.ts";

/** The secrets of the demo. */
export interface DemoSecrets {
  /** Signs the tokens. */
  readonly tokens: string;
  /** Encrypts the notes of reviews. */
  readonly encryption: string;
  readonly passwords: Readonly<Record<PersonId, string>>;
}

/**
 * Secrets for a demo. They are random, created with the database, and stored in a file that only its owner can read.
 * Real secrets do not belong there, so production refuses them; a real application reads them from its environment.
 * @param file of the secrets
 * @param database that needs these secrets
 * @throws ConfigurationError in production, when the file has no valid secrets, or when only the database exists
 */
export async function openDemoSecrets(file: string, database: string): Promise<DemoSecrets> {
  if (process.env.NODE_ENV === "production")
    throw new ConfigurationError(
      "The demo's secrets are not for production: unset NODE_ENV, or give the app secrets from a safe place",
    );
  const known = await readSecrets(file);
  if (known !== undefined) return known;
  if (await exists(database))
    throw new ConfigurationError(
      `The secrets of ${database} are not in ${file}; delete the database to import it again`,
    );
  return makeSecrets(file);
}

async function makeSecrets(file: string): Promise<DemoSecrets> {
  const password = (): string => randomBytes(12).toString("base64url");
  const secrets: DemoSecrets = {
    tokens: randomBytes(48).toString("base64"),
    encryption: generateEncryptionKey(),
    passwords: { ada: password(), grace: password() },
  };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  return secrets;
}

async function readSecrets(file: string): Promise<DemoSecrets | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (text === undefined) return undefined;
  try {
    const { tokens, encryption, passwords } = JSON.parse(text);
    const all: unknown[] = [tokens, encryption, ...people.map(({ id }) => passwords[id])];
    if (all.every((secret) => typeof secret === "string")) return { tokens, encryption, passwords };
  } catch {
    // Said below.
  }
  throw new ConfigurationError(`${file} does not hold the demo's secrets; delete it and the database to begin anew`);
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
