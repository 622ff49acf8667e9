import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { onCore, serverCore } from "../cores.ts";
import { freePort } from "../free-port.ts";
import type { Usage } from "../server-process.ts";

/** What starting a server took until it had answered well for the first time. */
export interface Start {
  readonly ms: number;
  /** CPU time of the process, all its threads included. */
  readonly cpuMs: number;
  readonly rssMb: number;
}

const PATIENCE_MS = 60_000;

/** The status of an answer; undefined while nobody listens. */
function ask(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = get({ host: "127.0.0.1", port, path, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    });
    request.on("error", () => resolve(undefined));
  });
}

/**
 * Starts a server in a process of its own, asks until it answers 200, and stops it.
 * @param file what Node runs
 * @param probe what reports the usage of the process
 */
export async function firstAnswer(file: string, probe: string, env: Readonly<Record<string, string>>): Promise<Start> {
  const port = await freePort();
  const [command, args] = onCore(serverCore, process.execPath, ["--import", probe, file]);
  const began = performance.now();
  const child = spawn(command, args, {
    env: { ...process.env, TZ: "UTC", ...env, PORT: String(port) },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  for (let status = await ask(port, "/api/item0s"); status !== 200; status = await ask(port, "/api/item0s")) {
    if (child.exitCode !== null || performance.now() - began > PATIENCE_MS) {
      child.kill("SIGKILL");
      throw new Error(`${file} gave no good answer; the last one was ${status ?? "no connection"}`);
    }
    await delay(2);
  }
  const ms = performance.now() - began;
  const said = once(child, "message");
  child.send("usage");
  const { cpuUs, rssBytes } = (await said)[0] as Usage;
  const ended = once(child, "exit");
  child.kill();
  await ended;
  return { ms, cpuMs: cpuUs / 1_000, rssMb: rssBytes / 2 ** 20 };
}
