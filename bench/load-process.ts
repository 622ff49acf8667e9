import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { outputFolder } from "./build.ts";
import { loadCore, onCore } from "./cores.ts";
import type { WorkloadId } from "./workloads.ts";

/** One stretch of load. */
export interface LoadJob {
  readonly port: number;
  readonly workload: WorkloadId;
  readonly connections: number;
  readonly seconds: number;
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

/** Starts the load generator, tied to its core. */
export function startLoad(): LoadProcess {
  const [command, args] = onCore(loadCore, process.execPath, [join(outputFolder, "load.mjs")]);
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  return {
    async run(job) {
      // Aborting takes the listener that was not needed off again.
      const done = new AbortController();
      const answer = once(child, "message", { signal: done.signal });
      const ended = once(child, "exit", { signal: done.signal }).then(() => {
        throw new Error("the load generator ended unexpectedly");
      });
      ended.catch(() => undefined);
      child.send(job);
      try {
        return ((await Promise.race([answer, ended])) as unknown[])[0] as LoadResult;
      } finally {
        done.abort();
      }
    },
    stop: () => void child.kill(),
  };
}
