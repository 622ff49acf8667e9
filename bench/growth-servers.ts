import { execFileSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { loadCore } from "./cores.ts";
import { dropDatabase } from "./database.ts";
import { freshOrders } from "./orders.ts";
import {
  askChild,
  type Cluster,
  orderWorkloads,
  refuseProblems,
  startBeside,
  startCluster,
  stopChild,
} from "./start-cluster.ts";
import { compareInTurns, type Turns } from "./take-turns.ts";

const CONNECTIONS = [1, 100, 1_000, 10_000];
const PROCESSES = [1, 2, 4, 8];
const DATABASE = "keelson_bench_growth_servers";

const cpuUs = async (cluster: Cluster): Promise<number> => (await cluster.report()).cpuUs;

async function onOrders(run: (url: string) => Promise<void>): Promise<void> {
  const url = await freshOrders(DATABASE);
  try {
    await run(url);
  } finally {
    await dropDatabase(DATABASE);
  }
}

/** Files that a process may open, with some left over for what is not a connection. */
function mostConnections(): number {
  const limit = execFileSync("sh", ["-c", "ulimit -Hn"], { encoding: "utf8" }).trim();
  return limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit) - 200;
}

/** One server: one connection asks, the others are open. */
export function compareConnections({ rounds, requests }: Pick<Turns<never>, "rounds" | "requests">): Promise<void> {
  return onOrders(async (url) => {
    const most = mostConnections();
    const counts = CONNECTIONS.filter((count) => count <= most);
    if (counts.length < CONNECTIONS.length)
      process.stdout.write(`Not more than ${most} connections: "ulimit -n" limits open files.\n`);
    const server = await startCluster(1, url);
    const idle = await startBeside("idle-connections.mjs", loadCore, { PORT: String(server.port) });
    const contenders = counts.map((count) => [count.toLocaleString("en"), { ...server, count }] as const);
    await compareInTurns("open connections", contenders, orderWorkloads, {
      rounds,
      requests,
      atOnce: 1,
      cpuUs,
      async prepare({ count }) {
        const open = await askChild<number>(idle, count - 1);
        if (open !== count - 1) throw new Error(`${open} instead of ${count - 1} connections are open`);
        await delay(200); // Those that were closed cost the server something, too.
      },
    });
    await refuseProblems(server);
    await stopChild(idle);
    await server.stop();
  });
}

/** Processes that share a port, each with as many requests at once. */
export function compareProcesses({ rounds, requests }: Pick<Turns<never>, "rounds" | "requests">): Promise<void> {
  return onOrders(async (url) => {
    const contenders: (readonly [string, Cluster])[] = [];
    for (const processes of PROCESSES) contenders.push([String(processes), await startCluster(processes, url)]);
    const processesOf = ({ processes }: Cluster): number => processes;
    await compareInTurns("processes", contenders, orderWorkloads, { rounds, requests, cpuUs, processesOf });
    for (const [, one] of contenders) await refuseProblems(one);
    for (const [, one] of contenders) await one.stop();
  });
}
