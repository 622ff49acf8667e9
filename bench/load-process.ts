import { type Serializable, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { outputFolder } from "./build.ts";
import { loadCore, onCore } from "./cores.ts";
import type { DialectId } from "./dialects/dialects.ts";
import type { WorkloadId } from "./workloads.ts";

/** One stretch of load. */
export interface LoadJob {
  readonly port: number;
  readonly workload: WorkloadId;
  readonly connections: number;
  readonly seconds: number;
  /** How the server wants to be asked; absent for Keelson's routes. */
  readonly dialect?: DialectId;
}

/** What came back. */
export interface LoadResult {
  /** Requests that were answered. */
  readonly requests: number;
  /** Requests that were sent: the answered ones and those still under way when the time was up. */
  readonly sent: number;
  /** Answers outside 2xx, broken connections and time-outs. */
  readonly failed: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The load generator's process. */
export interface LoadProcess {
  run(job: LoadJob): Promise<LoadResult>;
  stop(): void;
}

/** A process that answers one message at a time. */
export interface Worker {
  ask<T>(message: Serializable): Promise<T>;
  stop(): void;
}

/** Starts a compiled file, tied to a core. */
export function startWorker(core: number, file: string): Worker {
  const [command, args] = onCore(core, process.execPath, [join(outputFolder, file)]);
  const child = spawn(command, args, {
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return {
    async ask<T>(message: Serializable) {
      // Aborting takes the listener that was not needed off again.
      const done = new AbortController();
      const answer = once(child, "message", { signal: done.signal });
      const ended = once(child, "exit", { signal: done.signal }).then(() => {
        throw new Error(`${file} ended unexpectedly`);
      });
      ended.catch(() => undefined);
      child.send(message);
      try {
        return ((await Promise.race([answer, ended])) as unknown[])[0] as T;
      } finally {
        done.abort();
      }
    },
    stop: () => void child.kill(),
  };
}

/** Starts the load generator, tied to its core. */
export function startLoad(): LoadProcess {
  const { ask, stop } = startWorker(loadCore, "load.mjs");
  return { run: (job) => ask<LoadResult>(job), stop };
}
