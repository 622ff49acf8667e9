import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { builtKeelson } from "../../cli/built-package.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";

const built = await builtKeelson();

/** Less than the minute for which a forgotten timer of the schema engine would keep the process alive. */
const PATIENCE_MS = 45_000;
const SCRIPT = fileURLToPath(new URL("script.child.ts", import.meta.url));

async function run(database: string, ...words: readonly string[]): Promise<string> {
  const options = { env: { ...process.env, ...built, NODE_ENV: "development" }, timeout: PATIENCE_MS } as const;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--import", "tsx", SCRIPT, database, ...words],
    options,
  );
  return stdout;
}

describe("a script that closes its app", () => {
  it.concurrent("ends by itself on SQLite", async () => {
    const { file, remove } = await freshSqliteFile();
    expect(await run(file)).toBe("closed");
    await remove();
  });

  it.concurrent("ends by itself on PostgreSQL", async () => {
    const { url, drop } = await freshPostgres();
    expect(await run(url)).toBe("closed");
    await drop();
  });
});

describe("a script that leaves its app open", () => {
  /** Milliseconds. Idle connections of a pool stay open for ten seconds. */
  const AT_ONCE = 5_000;

  it.concurrent("ends when its work is done on SQLite", async () => {
    const { file, remove } = await freshSqliteFile();
    expect(Number(await run(file, "open"))).toBeLessThan(AT_ONCE);
    await remove();
  });

  it.concurrent("ends when its work is done on PostgreSQL", async () => {
    const { url, drop } = await freshPostgres();
    expect(Number(await run(url, "open"))).toBeLessThan(AT_ONCE);
    await drop();
  });
});
