// `npm run bench:instructions -- [--before commit] [--workloads get,list,create]`: how many instructions Keelson's server
// executes for a request, counted by Valgrind. Unlike times, they do not depend on what else the machine does.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { buildServers, serverFile } from "./build.ts";
import { beforeId } from "./contenders.ts";
import { openDatabase } from "./database.ts";
import { freePort } from "./free-port.ts";
import { type LoadRequest, lasting, requestsOf, type WorkloadId, workloadIds } from "./workloads.ts";

/** Requests that are sent before the first count, until the compiler has seen what is worth compiling. */
const WARM_UP = 9_600;
/** Requests of a count. Of requests that last, a tenth of both is sent. */
const COUNTED = 1_600;
const CONNECTIONS = 32;

const { values } = parseArgs({
  options: {
    before: { type: "string" },
    contender: { type: "string", default: "keelson-node" },
    workloads: { type: "string", default: "get,list,create" },
    counts: { type: "string", default: "3" },
  },
});
const workloads = values.workloads.split(",").map((name) => {
  const found = workloadIds.find((id) => id === name);
  if (found === undefined) throw new Error(`unknown workload "${name}"; there are ${workloadIds.join(", ")}`);
  return found;
});

function send(agent: Agent, port: number, { method, path, headers, body }: LoadRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, host: "127.0.0.1", method, path, headers }, (answer) => {
      answer.resume();
      answer.once("end", () => {
        if ((answer.statusCode ?? 500) < 300) resolve();
        else reject(new Error(`${method} ${path} answered ${answer.statusCode}`));
      });
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

/** Sends so many requests over all connections, each of which sends its own ones in turn. */
async function sendAll(port: number, dealt: readonly LoadRequest[][], count: number, from: number): Promise<void> {
  await Promise.all(
    dealt.map(async (own) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const each = count / dealt.length;
      for (let index = from / dealt.length; index < from / dealt.length + each; index++)
        await send(agent, port, own[index % own.length] as LoadRequest);
      agent.destroy();
    }),
  );
}

/** Counts the requests of one workload on a server of its own. @returns instructions per request, of each count */
async function countOn(contender: string, workload: WorkloadId): Promise<number[]> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "keelson-instructions-"));
  const file = join(folder, "callgrind.out");
  const args = [
    "--tool=callgrind",
    "--separate-threads=yes",
    `--callgrind-out-file=${file}`,
    process.execPath,
    serverFile(contender),
  ];
  const child = spawn("valgrind", ["--quiet", ...args], {
    env: { ...process.env, PORT: String(port), NODE_ENV: "production", TZ: "UTC" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const control = (...what: string[]): void =>
    void execFileSync("callgrind_control", [...what, String(child.pid)], { stdio: ["ignore", "ignore", "ignore"] });
  try {
    while (!(await fetch(`http://127.0.0.1:${port}/api/posts?_limit=1`).catch(() => undefined))?.ok) {
      if (child.exitCode !== null) throw new Error(`${contender} ended with code ${child.exitCode}`);
      await delay(200);
    }
    const dealt = requestsOf(workload, CONNECTIONS);
    const share = lasting.has(workload) ? 10 : 1;
    const [warmUp, counted] = [WARM_UP / share, COUNTED / share];
    await sendAll(port, dealt, warmUp, 0);
    const counts: number[] = [];
    for (let run = 0; run < Number(values.counts); run++) {
      control("-z");
      await sendAll(port, dealt, counted, warmUp + run * counted);
      control("-d");
      const text = readFileSync(`${file}.${run + 1}-01`, "utf8");
      counts.push(Number(/^(?:summary|totals): (\d+)/m.exec(text)?.[1]) / counted);
    }
    return counts;
  } finally {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  }
}

await buildServers([values.contender], values.before, values.contender);
const database = await openDatabase();
try {
  for (const workload of workloads)
    for (const contender of [values.contender, ...(values.before === undefined ? [] : [beforeId])]) {
      await database.restore(contender, workload);
      const counts = await countOn(contender, workload);
      const shown = counts.map((count) => `${(count / 1000).toFixed(0)}k`).join(", ");
      process.stdout.write(`${workload.padEnd(9)} ${contender.padEnd(16)} instructions per request: ${shown}\n`);
    }
} finally {
  await database.close();
}
