import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { loadCore, pin, serverCore } from "./cores.ts";
import { freePort } from "./free-port.ts";
import { type OrderRequest, orderRequests } from "./orders.ts";
import type { Workloads } from "./take-turns.ts";

/** What all processes of a cluster have used since they started, and the warnings and errors that they logged. */
export interface ClusterReport {
  readonly cpuUs: number;
  readonly problems: readonly string[];
}

/** Servers of `orders.ts` that share a port. */
export interface Cluster {
  readonly port: number;
  readonly processes: number;
  /** For requests to it, whose connections stay open. */
  readonly agent: Agent;
  report(): Promise<ClusterReport>;
  stop(): Promise<void>;
}

/** The next message of a process. */
async function messageOf(child: ChildProcess): Promise<unknown> {
  // Aborting takes the listener that was not needed off again.
  const done = new AbortController();
  const message = once(child, "message", { signal: done.signal });
  const ended = once(child, "exit", { signal: done.signal }).then(() => {
    throw new Error(`${child.spawnargs.at(-1)} ended unexpectedly`);
  });
  ended.catch(() => undefined);
  try {
    return ((await Promise.race([message, ended])) as unknown[])[0];
  } finally {
    done.abort();
  }
}

/** Sends a message to a process, and waits for the answer. */
export async function askChild<T>(child: ChildProcess, message: string | number): Promise<T> {
  const answer = messageOf(child);
  child.send(message);
  return (await answer) as T;
}

/** Ends a process that was started here. */
export async function stopChild(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.disconnect();
  await ended;
}

/** Starts a compiled file beside the running one on one core, and waits until it says that it is ready. */
export async function startBeside(file: string, core: number, env: Readonly<Record<string, string>>) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { env: { ...process.env, ...env } });
  if (child.pid !== undefined) pin(child.pid, core);
  await messageOf(child);
  return child;
}

/** Starts so many processes on one port. */
export async function startCluster(processes: number, url: string, prepared = true): Promise<Cluster> {
  pin(process.pid, loadCore);
  const port = await freePort();
  const child = await startBeside("server-cluster.mjs", serverCore, {
    NODE_ENV: "production",
    PROCESSES: String(processes),
    PORT: String(port),
    ORDERS_URL: url,
    PREPARED: prepared ? "yes" : "no",
  });
  const agent = new Agent({ keepAlive: true });
  return {
    port,
    processes,
    agent,
    report: () => askChild(child, "report"),
    async stop() {
      agent.destroy();
      await stopChild(child);
    },
  };
}

/** The text of an answer, with its status. */
export function askCluster(
  { port, agent }: Cluster,
  { method, path, body }: Omit<OrderRequest, "expected">,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers =
      text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const sent = request({ agent, host: "127.0.0.1", port, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

/** What of a value is expected: the same members, of lists in any order. */
function like(value: unknown, expected: unknown): unknown {
  if (Array.isArray(expected)) {
    const sorted = [...(value as { sku: string }[])].sort((a, b) => (a.sku < b.sku ? -1 : 1));
    return sorted.map((one, index) => like(one, expected[index]));
  }
  if (typeof expected !== "object" || expected === null) return value;
  return Object.fromEntries(
    Object.entries(expected).map(([name, of]) => [name, like((value as Record<string, unknown>)[name], of)]),
  );
}

/** Asks a cluster, and refuses an answer that is not right. */
async function askForOrder(cluster: Cluster, asked: OrderRequest): Promise<{ status: number; body: string }> {
  const answer = await askCluster(cluster, asked);
  strictEqual(answer.status, asked.method === "POST" ? 201 : 200, answer.body);
  deepStrictEqual(like(JSON.parse(answer.body), asked.expected), asked.expected);
  return answer;
}

/** The requests of `orders.ts`, for `compareInTurns`. */
export const orderWorkloads: Workloads<Cluster> = Object.fromEntries(
  Object.entries(orderRequests).map(([name, of]) => [
    name,
    (cluster: Cluster, turn: number) => askForOrder(cluster, of(turn)),
  ]),
);

/** @throws Error when a process has logged a warning or an error */
export async function refuseProblems({ report }: Cluster): Promise<void> {
  const { problems } = await report();
  if (problems.length > 0)
    throw new Error(`${problems.length} problems in the log: ${problems.slice(0, 5).join("\n")}`);
}
