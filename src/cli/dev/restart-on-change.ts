import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type FSWatcher, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Output } from "../shell/output.ts";

/** The source files of a server. */
const SOURCE = /\.([cm]?[jt]sx?|json)$|^\.env$/;
/** Excludes tests, and files that the server itself writes, which would restart it forever. */
const TEST = /\.(test|spec)\.[cm]?[jt]sx?$/;
const IGNORED = new Set(["node_modules", "dist", "coverage", "build"]);

/** Milliseconds within which changes count as one: editors write a file in several steps. */
const QUIET_MS = 80;

/**
 * Watches the sources below a folder. Watches each folder, because a recursive watch would also walk through
 * node_modules.
 * @returns a function that stops
 */
async function watchFiles(root: string, onChange: (file: string) => void): Promise<() => void> {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function changed(folder: string, name: string | null): void {
    // Any other name may be a new folder.
    if (name !== null && !name.includes(".")) void add(join(folder, name));
    if (name === null || !SOURCE.test(name) || TEST.test(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => onChange(join(folder, name)), QUIET_MS);
  }

  async function add(folder: string): Promise<void> {
    if (watchers.has(folder) || isClosed) return;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined || watchers.has(folder) || isClosed) return;
    const watcher = watch(folder, (_event, name) => changed(folder, name));
    // The folder was deleted.
    watcher.on("error", () => {
      watcher.close();
      watchers.delete(folder);
    });
    watchers.set(folder, watcher);
    const folders = entries.filter((entry) => entry.isDirectory() && !isIgnored(entry.name));
    await Promise.all(folders.map(({ name }) => add(join(folder, name))));
  }

  await add(root);
  return () => {
    isClosed = true;
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}

function isIgnored(name: string): boolean {
  return name.startsWith(".") || IGNORED.has(name);
}

/** Milliseconds that a server has to end before it is killed. */
const PATIENCE_MS = 5_000;

/**
 * Runs a command line in a separate process, and restarts it whenever a source changes: a new process keeps no state of
 * the old one. Ends with the server on SIGINT, SIGTERM and SIGHUP.
 * @param command the arguments for Node, with the script first
 */
export async function restartOnChange(command: readonly string[], output: Output): Promise<void> {
  let child: ChildProcess | undefined;
  let isEnding = false;

  function start(): void {
    // In its own process group where supported: Ctrl-C is sent to this process, which forwards it once. A server that
    // gets the signal twice aborts the requests in flight.
    child = spawn(process.execPath, command, { stdio: "inherit", detached: process.platform !== "win32" });
    // A process that ended by a signal was stopped by this function.
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

  // One restart at a time; changes during a restart lead to one more.
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
 * Resolves on the first signal to end this process. Later ones are ignored: npm may repeat the terminal's signal, and a
 * server that does not end is killed anyway.
 */
function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
  });
}
