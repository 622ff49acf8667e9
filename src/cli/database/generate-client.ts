import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { ConfigurationError } from "../../entity/index.ts";

/** Matches the output of Prisma's command when a download fails. */
const OFFLINE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|Failed to fetch/;

/**
 * Runs the project's own `prisma generate` on a schema.
 * @throws ConfigurationError when Prisma is not installed, or the command fails
 */
export async function generateClient(schema: string): Promise<void> {
  const command = await findPrisma();
  const { code, said } = await run(command, schema, process.env);
  if (code === 0) return;
  // The command downloads an engine that it does not need for generating. Offline, a stand-in that refuses all work
  // replaces it: one that accepted work would make commands that need the engine report success.
  const standIn = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: "/bin/false" };
  if (OFFLINE.test(said) && (await run(command, schema, standIn)).code === 0) return;
  throw new ConfigurationError(`prisma generate failed on ${schema}; what it printed says why`);
}

async function findPrisma(): Promise<string> {
  try {
    const manifest = createRequire(resolve("package.json")).resolve("prisma/package.json");
    const { bin } = JSON.parse(await readFile(manifest, "utf8")) as { readonly bin: { readonly prisma: string } };
    return join(dirname(manifest), bin.prisma);
  } catch (cause) {
    throw new ConfigurationError("--client runs Prisma's own command. Run: npm i -D prisma@7.10.0", { cause });
  }
}

async function run(
  command: string,
  schema: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: unknown; readonly said: string }> {
  const child = spawn(process.execPath, [command, "generate", "--schema", schema], {
    stdio: ["ignore", "inherit", "pipe"],
    env,
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk;
    process.stderr.write(chunk);
  });
  const [code] = await once(child, "close");
  return { code, said };
}
