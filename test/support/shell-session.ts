import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The responses that a shell block documents, and the actual ones. */
export interface ShellSession {
  /** From the comments below the requests: `# 201`. */
  readonly promised: readonly string[];
  readonly answered: readonly string[];
}

const LOCAL = "http://localhost:3000";
/** Makes each `curl` of the block also print its status. */
const TELL = `curl() { command curl -s -w '%{stderr}status %{http_code}\\n' "$@"; }`;

/**
 * Runs a page's shell block in a real shell, with real cookies in a real jar.
 * @param block uses http://localhost:3000, which is replaced by `origin`
 */
export async function runShellSession(block: string, origin: string): Promise<ShellSession> {
  const folder = await mkdtemp(join(tmpdir(), "keelson-shell-"));
  try {
    const child = spawn("bash", ["-c", `${TELL}\n${block.replaceAll(LOCAL, origin)}`], { cwd: folder, stdio: "pipe" });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk));
    child.stdout.resume();
    await once(child, "close");
    const statuses = (text: string, pattern: RegExp) =>
      [...text.matchAll(pattern)].map(([, status]) => status as string);
    return { promised: statuses(block, /^# (\d{3})/gm), answered: statuses(said, /^status (\d{3})$/gm) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
