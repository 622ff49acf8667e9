import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigurationError, type RequestInfo, type User } from "keelson";
import { ada, grace } from "./people.ts";

/** A token for each person of the demo, and who calls with which. */
export interface DemoTokens {
  readonly person: string;
  readonly admin: string;
  getUser(request: RequestInfo): User | null;
}

/**
 * Bearer tokens for a demo: two random ones per database, in a file that only its owner can read. They never expire and
 * cannot be revoked, so production refuses them; a real application verifies signed tokens in `getUser`.
 * @throws ConfigurationError in production, or when the file is not one of ours
 */
export async function openDemoTokens(file: string): Promise<DemoTokens> {
  if (process.env.NODE_ENV === "production")
    throw new ConfigurationError(
      "The demo's tokens are not for production: unset NODE_ENV, or give the app a real getUser",
    );
  const { person, admin } = (await readTokens(file)) ?? (await makeTokens(file));
  const users = new Map<string, User>([
    [person, ada],
    [admin, grace],
  ]);
  return {
    person,
    admin,
    getUser(request) {
      const [, token = ""] = /^Bearer ([\w-]+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
      return users.get(token) ?? null;
    },
  };
}

type Tokens = Pick<DemoTokens, "person" | "admin">;

async function makeTokens(file: string): Promise<Tokens> {
  const token = (): string => randomBytes(24).toString("base64url");
  const tokens: Tokens = { person: token(), admin: token() };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(tokens, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  return tokens;
}

async function readTokens(file: string): Promise<Tokens | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (text === undefined) return undefined;
  try {
    const { person, admin } = JSON.parse(text);
    if (typeof person === "string" && typeof admin === "string") return { person, admin };
  } catch {
    // Said below.
  }
  throw new ConfigurationError(`${file} does not hold the demo's tokens; delete it to get new ones`);
}
