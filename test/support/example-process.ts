import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { builtKeelson } from "../cli/built-package.ts";
import { repositoryRoot } from "./source-files.ts";

/** An example that runs in a separate process. */
export interface RunningExample {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
  /** Resolves to the exit code; null when a signal ended the process. */
  readonly ended: Promise<number | null>;
}

/** Starts a script of the repository as its command does, on a free port; `env` is added to the test's environment. */
export async function startScript(script: string, env: Readonly<Record<string, string>>): Promise<RunningExample> {
  const child = spawn(process.execPath, ["--import", "tsx", script], {
    cwd: repositoryRoot,
    env: { ...process.env, ...(await builtKeelson()), NODE_ENV: "development", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return whenListening(child);
}

/** Waits until a process with piped output has printed a local URL. */
export async function whenListening(child: ChildProcess): Promise<RunningExample> {
  const ended = once(child, "exit").then(([code]) => code as number | null);
  let output = "";
  const url = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const found = /http:\/\/localhost:\d+(?=[/\s])/.exec(output);
        if (found) resolve(found[0]);
      });
  });
  const address = await Promise.race([url, ended]);
  if (typeof address !== "string") throw new Error(`The process has ended with ${address}:\n${output}`);
  return { url: address, port: Number(new URL(address).port), child, ended };
}

/** Ends a process, unless it has ended already. */
export async function endProcess({ child, ended }: RunningExample): Promise<void> {
  child.kill("SIGKILL");
  await ended;
}
