// The API of `orders.ts` on keelson/node in as many processes as PROCESSES says, on one port; tells what all of them have used.
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { serve } from "../src/adapters/node/index.ts";
import { keelson, type Logger, postgres } from "../src/index.ts";
import { orderEntities } from "./orders.ts";
import type { ClusterReport } from "./start-cluster.ts";

const { PROCESSES, PORT, ORDERS_URL, PREPARED } = process.env;

const own = (problems: readonly string[]): ClusterReport => {
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, problems };
};

async function reportOf(worker: Worker): Promise<ClusterReport> {
  const answer = once(worker, "message");
  worker.send("report");
  return (await answer)[0] as ClusterReport;
}

if (cluster.isPrimary) {
  const workers = Array.from({ length: Number(PROCESSES) }, () => cluster.fork());
  cluster.on("exit", () => process.exit(1));
  await Promise.all(workers.map((worker) => once(worker, "listening")));
  process.on("message", async () => {
    const reports = [own([]), ...(await Promise.all(workers.map(reportOf)))];
    const cpuUs = reports.reduce((sum, report) => sum + report.cpuUs, 0);
    process.send?.({ cpuUs, problems: reports.flatMap(({ problems }) => problems) } satisfies ClusterReport);
  });
  process.on("disconnect", () => process.exit());
  process.send?.("ready");
} else {
  const problems: string[] = [];
  const note = (message: string, meta?: unknown): void => void problems.push(`${message} ${JSON.stringify(meta)}`);
  const nothing = (): void => {};
  const logger: Logger = { debug: nothing, info: nothing, warn: note, error: note };
  const driver = postgres(ORDERS_URL, { poolSize: 3, push: "off", preparedStatements: PREPARED !== "no" });
  const app = keelson({ entities: orderEntities, driver, logger, production: true });
  process.on("message", () => void process.send?.(own(problems)));
  await serve(app, { port: Number(PORT), hostname: "127.0.0.1" });
}
