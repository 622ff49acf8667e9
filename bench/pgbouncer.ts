// Four processes on PostgreSQL, straight and through PgBouncer in transaction mode: right answers, and CPU per request.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { dropDatabase } from "./database.ts";
import { freePort } from "./free-port.ts";
import { freshOrders, halfOrders, refusedOrder } from "./orders.ts";
import { askCluster, type Cluster, orderWorkloads, refuseProblems, startCluster } from "./start-cluster.ts";
import { compareInTurns } from "./take-turns.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 1_500);
const PROCESSES = 4;
const DATABASE = "keelson_bench_pgbouncer";

/** A pooler of our own in front of a database. */
interface Pooler {
  readonly url: string;
  /** What it logged besides its statistics. */
  problems(): string[];
  stop(): Promise<void>;
}

const idOf = (flag: string, user: string): number => Number(execFileSync("id", [flag, user], { encoding: "utf8" }));

async function untilItListens(port: number, child: ChildProcess, log: string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`pgbouncer has ended: ${readFileSync(log, "utf8")}`);
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await delay(50);
  }
}

async function startPooler(direct: string): Promise<Pooler> {
  const { hostname, port: to, username, password, pathname } = new URL(direct);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "keelson-pgbouncer-"));
  const [ini, users, log] = ["pgbouncer.ini", "users.txt", "pgbouncer.log"].map((file) => join(folder, file)) as [
    string,
    string,
    string,
  ];
  const user = username || "postgres";
  const name = pathname.slice(1);
  writeFileSync(users, `"${user}" "${decodeURIComponent(password)}"\n`);
  writeFileSync(log, "");
  writeFileSync(
    ini,
    `[databases]
${name} = host=${hostname} port=${to || 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
logfile = ${log}
log_connections = 0
log_disconnections = 0
pool_mode = transaction
default_pool_size = ${2 * PROCESSES}
ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout
`,
  );
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const file of [ini, users]) chmodSync(file, 0o644);
  if (isRoot) chmodSync(log, 0o666);
  if (isRoot) chmodSync(folder, 0o755);
  const as = isRoot ? { uid: idOf("-u", "nobody"), gid: idOf("-g", "nobody") } : {};
  const child = spawn("pgbouncer", ["--quiet", ini], { ...as, cwd: "/", stdio: ["ignore", "ignore", "inherit"] });
  await untilItListens(port, child, log);
  const url = new URL(direct);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return {
    url: url.href,
    problems: () =>
      readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => / (WARNING|ERROR|FATAL) /.test(line)),
    async stop() {
      const ended = once(child, "exit");
      child.kill();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** A transaction that fails leaves nothing, and its connection is as good as before. */
async function checkRefusal(cluster: Cluster): Promise<void> {
  const refusals = Array.from({ length: 40 }, async () => {
    const { status, body } = await askCluster(cluster, refusedOrder);
    if (status !== 409) throw new Error(`status ${status} instead of 409: ${body}`);
  });
  await Promise.all(refusals);
}

async function run(): Promise<void> {
  const url = await freshOrders(DATABASE);
  const pooler = await startPooler(url);
  try {
    const contenders = [
      ["direct", await startCluster(PROCESSES, url)],
      ["direct, preparedStatements: false", await startCluster(PROCESSES, url, false)],
      ["PgBouncer", await startCluster(PROCESSES, pooler.url, false)],
    ] as const;
    for (const [, one] of contenders) await checkRefusal(one);
    await compareInTurns(`${PROCESSES} processes`, contenders, orderWorkloads, {
      rounds: ROUNDS,
      requests: REQUESTS,
      cpuUs: async (one) => (await one.report()).cpuUs,
      processesOf: () => PROCESSES,
    });
    for (const [, one] of contenders) await checkRefusal(one);
    for (const [, one] of contenders) await refuseProblems(one);
    for (const [, one] of contenders) await one.stop();
    const problems = pooler.problems();
    if (problems.length > 0) throw new Error(`PgBouncer logged: ${problems.slice(0, 5).join("\n")}`);
    const half = await halfOrders(DATABASE);
    if (half > 0) throw new Error(`${half} orders are those of half a transaction`);
    process.stdout.write("\nAll answers were right, no transaction was halved, no warning or error was logged.\n");
  } finally {
    await pooler.stop();
    await dropDatabase(DATABASE);
  }
}

const version = spawnSync("pgbouncer", ["--version"], { encoding: "utf8" }).stdout?.split("\n")[0];
if (version === undefined) process.stdout.write("pgbouncer is not installed; apt-get install pgbouncer does that.\n");
else {
  process.stdout.write(`${version}, pool_mode transaction\n`);
  await run();
}
