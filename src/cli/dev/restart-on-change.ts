import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { relative } from "node:path";
import type { Output } from "../output.ts";
import { watchFiles } from "./watch-files.ts";

/** Milliseconds a server gets to end before it is killed. */
const PATIENCE_MS = 5_000;

/**
 * Runs a command line in a process of its own, and again whenever a source changes: a new process has nothing of the old
 * one left. Ends, with the server, at SIGINT, SIGTERM and SIGHUP.
 * @param command for Node, the script first
 */
export async function restartOnChange(command: readonly string[], output: Output): Promise<void> {
  let child: ChildProcess | undefined;
  let isEnding = false;

  function start(): void {
    // In a group of its own where there are groups: Ctrl-C is for this process, which passes it on once. A server that
    // hears of its end twice takes the second time for impatience, and cuts what it is answering.
    child = spawn(process.execPath, command, { stdio: "inherit", detached: process.platform !== "win32" });
    // One that ended by a signal was stopped from here.
    child.once("exit", (code, signal) => {
      if (!isEnding && signal === null && code !== 0) output.note(output.style("dim", "Waiting for a change …"));
    });
  }

  async function stop(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    const timer = setTimeout(() => child?.kill("SIGKILL"), PATIENCE_MS);
    await ended;
    clearTimeout(timer);
  }

  // One restart at a time; changes that come meanwhile lead to one more.
  let restarting: Promise<void> = Promise.resolve();
  let isPending = false;
  const unwatch = await watchFiles(process.cwd(), (file) => {
    if (isPending || isEnding) return;
    isPending = true;
    restarting = restarting.then(async () => {
      isPending = false;
      output.note(output.style("dim", `${relative(process.cwd(), file)} changed`));
      await stop();
      if (!isEnding) start();
    });
  });
  start();

  await endSignal();
  isEnding = true;
  unwatch();
  await restarting;
  await stop();
}

/**
 * The first signal that is to end this process. Those after it change nothing: npm may pass on what the terminal has sent
 * already, and a server that does not end is killed all the same.
 */
function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
  });
}
