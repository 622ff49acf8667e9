import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { outputFolder, serverFile } from "./build.ts";
import { contenders } from "./contenders.ts";
import { onCore, serverCore } from "./cores.ts";
import { dialectOf } from "./dialects/dialects.ts";
import { sayIn } from "./dialects/said.ts";
import { freePort } from "./free-port.ts";
import { postId } from "./seed.ts";

/** What a process has used since it started. */
export interface Usage {
  readonly cpuUs: number;
  readonly rssBytes: number;
}

/** What a process did with its memory while it was watched. */
export interface MemoryUse {
  /** Bytes allocated on the JavaScript heap, those collected meanwhile included. */
  readonly allocatedBytes: number;
  /** The largest resident set; absent where /proc does not tell. */
  readonly peakRssBytes?: number;
}

/** Watches the memory of a process from one moment to another. It costs something, so it is not done while CPU is measured. */
export interface MemoryWatch {
  begin(): Promise<void>;
  end(): Promise<MemoryUse>;
}

/** A contender that is running. */
export interface ServerProcess {
  readonly port: number;
  /** Milliseconds from the start of the process to its first right answer. */
  readonly startMs: number;
  /** What it had used at that moment. */
  readonly atStart: Usage;
  /** Waits until the server has nothing left to do, and tells what it has used by then. */
  settledUsage(): Promise<Usage>;
  /** Absent where there is no process of its own to watch. */
  readonly memory?: MemoryWatch;
  stop(): Promise<void>;
}

/** Asks the probe in the process. */
async function askProbe<T>(child: ChildProcess, what: "usage" | "watch" | "watched"): Promise<T> {
  const answer = once(child, "message");
  child.send(what);
  return (await answer)[0] as T;
}

const usageOf = (child: ChildProcess): Promise<Usage> => askProbe<Usage>(child, "usage");

async function settledUsageOf(child: ChildProcess): Promise<Usage> {
  const quietMs = 25;
  for (let before = await usageOf(child); ; ) {
    await delay(quietMs);
    const after = await usageOf(child);
    // Idle, a server uses next to nothing; a tenth of the time leaves room for a collection of garbage.
    if (after.cpuUs - before.cpuUs < quietMs * 100) return after;
    before = after;
  }
}

const patienceMs = 30_000;

/** Starts a contender in its own process, tied to the server's core, and waits for its first answer. */
export async function startServer(contender: string): Promise<ServerProcess> {
  const port = await freePort();
  const startedAt = performance.now();
  const probe = pathToFileURL(join(outputFolder, "probe.mjs")).href;
  const [command, args] = onCore(serverCore, process.execPath, ["--import", probe, serverFile(contender)]);
  const dialect = dialectOf(contenders.find(({ id }) => id === contender)?.dialect);
  const first = sayIn(dialect, { method: "GET", path: `/api/posts/${postId(0)}` }).request;
  const child = spawn(command, args, {
    // Columns have no time zone; some libraries read and write them in that of the process.
    env: { ...process.env, PORT: String(port), NODE_ENV: "production", TZ: "UTC" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });

  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill();
    await ended;
  };
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${contender} ended with code ${child.exitCode} before it answered`);
    const answer = await fetch(`http://127.0.0.1:${port}${first.path}`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) break;
    if (performance.now() - startedAt > patienceMs) {
      await stop();
      throw new Error(
        `${contender} gave no good answer within ${patienceMs} ms; the last one was ${answer?.status ?? "no connection"}`,
      );
    }
    await delay(5);
  }
  const startMs = performance.now() - startedAt;
  return {
    port,
    startMs,
    atStart: await usageOf(child),
    settledUsage: () => settledUsageOf(child),
    memory: {
      begin: () => askProbe(child, "watch"),
      end: () => askProbe(child, "watched"),
    },
    stop,
  };
}
