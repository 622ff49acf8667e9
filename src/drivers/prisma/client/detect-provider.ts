import { ConfigurationError, type Provider } from "../../../entity/index.ts";
import { DatabaseUnavailableError } from "../../../kernel/index.ts";
import { toKeelsonError } from "../../sql/index.ts";
import type { StatementClient } from "./words/client-shape.ts";

/** What databases answer to `version()`; those that speak PostgreSQL's protocol behave like it here. */
const ANSWERS: readonly (readonly [RegExp, Provider])[] = [
  [/PostgreSQL|CockroachDB|Yugabyte/i, "postgresql"],
  [/MariaDB|^\d+\.\d+/i, "mysql"],
];

async function answerTo(client: StatementClient, sql: string): Promise<string | undefined> {
  try {
    return String((await client.$queryRawUnsafe(sql))[0]?.version);
  } catch (error) {
    const known = toKeelsonError(error, { operation: "connect" });
    if (known instanceof DatabaseUnavailableError) throw known;
    return undefined;
  }
}

/**
 * The database behind a client. PrismaClient does not say which it is, so the database is asked for its version.
 * @throws DatabaseUnavailableError; ConfigurationError when the answer means nothing to us
 */
export async function detectProvider(client: StatementClient): Promise<Provider> {
  const version = await answerTo(client, "SELECT version() AS version");
  if (version === undefined) {
    if ((await answerTo(client, "SELECT sqlite_version() AS version")) !== undefined) return "sqlite";
  } else {
    const found = ANSWERS.find(([pattern]) => pattern.test(version));
    if (found !== undefined) return found[1];
  }
  throw new ConfigurationError(
    'prisma() cannot tell which database the client talks to; say so: prisma(client, { provider: "postgresql" })',
  );
}
