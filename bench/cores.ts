import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** The core of the server under test. */
export const serverCore = 0;

/** The core of the load generator and of PostgreSQL. */
export const loadCore = 1;

function hasTaskset(): boolean {
  try {
    execFileSync("taskset", ["--version"], { stdio: "ignore" });
    return availableParallelism() > 1;
  } catch {
    return false;
  }
}

/** Whether processes can be tied to a core here. */
export const canPin = hasTaskset();

/** A command and its arguments, to be run on one core where that is possible. */
export function onCore(core: number, command: string, args: readonly string[]): [command: string, args: string[]] {
  return canPin ? ["taskset", ["-c", String(core), command, ...args]] : [command, [...args]];
}

/** Ties a running process, all its threads and those it will start to a core; does nothing where that is not possible. */
export function pin(pid: number, core: number): void {
  if (!canPin) return;
  try {
    execFileSync("taskset", ["-a", "-c", "-p", String(core), String(pid)], { stdio: "ignore" });
  } catch {
    // The process has ended, or belongs to somebody else: then it is measured where it is.
  }
}

// Linux counts in ticks of 10 ms on every platform that Node runs on.
const tickUs = 10_000;

/** CPU time in microseconds that each of some processes of PostgreSQL has used so far; without those that /proc does not tell of. */
export function cpuOf(pids: readonly number[]): ReadonlyMap<number, number> {
  const used = new Map<number, number>();
  for (const pid of pids) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // The name in parentheses may hold spaces; utime and stime are the 12th and 13th field after it.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (stat.includes("(postgres)")) used.set(pid, (Number(fields[11]) + Number(fields[12])) * tickUs);
    } catch {
      // It has ended, or is not on this machine.
    }
  }
  return used;
}
