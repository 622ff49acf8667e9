import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createJournal } from "./journal.ts";
import { complain, createTally, type Lane, randomNumbers } from "./lane.ts";
import { type Growth, growthOf, type SoakSample } from "./memory-growth.ts";
import { askAnything } from "./requests.ts";
import { POOL_SIZE, type ProcessSample } from "./serve-soak.ts";
import { CALLERS } from "./soak-api.ts";
import { createSoakClient } from "./soak-client.ts";
import { type DatabaseKind, openSoakDatabase } from "./soak-database.ts";

/** How a soak is done. */
export interface SoakOptions {
  readonly database: DatabaseKind;
  readonly requests: number;
  /** What node runs: the server's file, after options of node. Its argument is the database. */
  readonly server: readonly string[];
  /** Requests that are under way at once. @default 24 */
  readonly lanes?: number;
  readonly seed?: number;
  /** How often memory is looked at, the warm-up included. @default 50 */
  readonly samples?: number;
  /** Told of the progress. */
  readonly log?: (line: string) => void;
}

/** What came of it. */
export interface SoakResult {
  readonly database: string;
  readonly requests: number;
  readonly seconds: number;
  readonly lanes: number;
  readonly seed: number;
  readonly kinds: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<string, number>>;
  readonly serverErrors: number;
  readonly wrong: number;
  readonly acknowledgedWrites: number;
  readonly lostWrites: number;
  readonly recordsAtEnd: number;
  /** After the warm-up. */
  readonly rss: Growth;
  readonly heap: Growth;
  readonly atStart: ProcessSample;
  /** When all clients have gone. */
  readonly atEnd: ProcessSample;
  readonly databaseConnections?: { readonly open: number; readonly inTransaction: number; readonly afterClose: number };
  readonly exitCode: number | null;
  /** What is wrong with all this, in words. */
  readonly faults: readonly string[];
}

/** The part of a run in which code is compiled and caches fill. */
const WARM_UP = 0.1;
/** Megabytes that memory may differ by between the beginning and the end, whatever the length of a run. */
const HEAP_ALLOWANCE = 8;
const RSS_ALLOWANCE = 64;
const MB = 1024 * 1024;

function told<T>(child: ChildProcess, key: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error("the server has ended"));
    child.once("exit", ended);
    child.on("message", function hear(message: Readonly<Record<string, T>>) {
      if (message[key] === undefined) return;
      child.off("message", hear).off("exit", ended);
      resolve(message[key]);
    });
  });
}

const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null;

function sampleOf(child: ChildProcess): Promise<ProcessSample> {
  const sample = told<ProcessSample>(child, "sample");
  child.send("sample");
  return sample;
}

/** Sockets of clients take a moment to be gone. */
async function quietSample(child: ChildProcess): Promise<ProcessSample> {
  for (let left = 50; ; left--) {
    const sample = await sampleOf(child);
    if (sample.connections === 0 || left === 0) return sample;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

type Figures = Omit<SoakResult, "faults">;

function faultsOf(figures: Figures): string[] {
  const { serverErrors, wrong, lostWrites, heap, rss, atStart, atEnd, databaseConnections, exitCode } = figures;
  const grown = ({ firstBytes, lastBytes }: Growth): number => (lastBytes - firstBytes) / MB;
  const descriptors = (atEnd.descriptors ?? 0) - (atStart.descriptors ?? 0);
  const conditions: readonly (readonly [boolean, string])[] = [
    [serverErrors > 0, `${serverErrors} answers are 5xx`],
    [wrong > 0, `${wrong} answers are wrong`],
    [lostWrites > 0, `${lostWrites} acknowledged writes are not in the database`],
    [grown(heap) > HEAP_ALLOWANCE, `the heap has grown by ${grown(heap).toFixed(1)} MB`],
    [grown(rss) > RSS_ALLOWANCE, `the resident set has grown by ${grown(rss).toFixed(1)} MB`],
    [atEnd.connections > 0, `${atEnd.connections} connections are open that nobody uses`],
    [descriptors > POOL_SIZE, `${descriptors} more files are open than at the start`],
    [(databaseConnections?.open ?? 0) > POOL_SIZE, `${databaseConnections?.open} connections to the database are open`],
    [(databaseConnections?.inTransaction ?? 0) > 0, `${databaseConnections?.inTransaction} transactions are open`],
    [(databaseConnections?.afterClose ?? 0) > 0, "connections to the database outlive the server"],
    [exitCode !== 0, `the server ended with ${exitCode}`],
  ];
  return conditions.flatMap(([holds, text]) => (holds ? [text] : []));
}

/** Starts a server on a database of its own, asks it for everything that callers ask for, and compares what is left with what it said. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { requests, lanes: laneCount = 24, seed = 1, samples: wanted = 50, log = () => {} } = options;
  const database = await openSoakDatabase(options.database);
  const child = spawn(process.execPath, ["--expose-gc", ...options.server, database.address], {
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  try {
    const client = createSoakClient(await told<number>(child, "port"), laneCount);
    const tally = createTally();
    const journal = createJournal();
    let serial = 0;
    const lanes = Array.from({ length: laneCount }, (_, number): Lane => {
      const token = CALLERS[number % CALLERS.length] as string;
      const random = randomNumbers(seed * 1_000 + number);
      return { number, token, client, journal, tally, records: [], random, next: () => ++serial };
    });
    const atStart = await sampleOf(child);
    const samples: SoakSample[] = [];
    const begun = performance.now();

    async function work(lane: Lane): Promise<void> {
      while (client.sent() < requests && isAlive(child))
        await askAnything(lane).catch((error: unknown) => complain(tally, `no answer: ${error}`));
    }
    const working = Promise.all(lanes.map(work)).then(() => true);
    const step = Math.max(1, Math.floor(requests / wanted));
    for (let next = step; next <= requests; ) {
      if (client.sent() >= next) {
        const sent = client.sent();
        const sample = await sampleOf(child);
        if (sent > requests * WARM_UP) samples.push({ ...sample, requests: sent });
        if (samples.length % 5 === 0)
          log(
            `${sent} requests, ${((performance.now() - begun) / 1000).toFixed(0)} s, ${tally.wrong} wrong, RSS ${(sample.rssBytes / MB).toFixed(1)} MB, heap ${(sample.heapBytes / MB).toFixed(1)} MB`,
          );
        next = (Math.floor(sent / step) + 1) * step;
      } else if (await Promise.race([working, new Promise<false>((resolve) => setTimeout(resolve, 5, false))])) break;
    }
    await working;
    const seconds = (performance.now() - begun) / 1000;
    client.close();
    const atEnd = await quietSample(child);
    samples.push({ ...atEnd, requests: client.sent() });
    const open = await database.connections?.();
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    const [exitCode] = (await ended) as [number | null];
    const after = await database.connections?.();
    const { rows, counters } = await database.read();
    const lost = journal.compare(rows, counters);
    for (const text of [...tally.complaints, ...lost.slice(0, 20)]) log(text);
    const figures: Figures = {
      database: database.version,
      requests: client.sent(),
      seconds,
      lanes: laneCount,
      seed,
      kinds: Object.fromEntries([...tally.kinds].sort()),
      statuses: Object.fromEntries(tally.statuses),
      serverErrors: tally.serverErrors,
      wrong: tally.wrong,
      acknowledgedWrites: journal.acknowledged(),
      lostWrites: lost.length,
      recordsAtEnd: rows.length,
      rss: growthOf(samples, ({ rssBytes }) => rssBytes),
      heap: growthOf(samples, ({ heapBytes }) => heapBytes),
      atStart,
      atEnd,
      exitCode,
      ...(open && after && { databaseConnections: { ...open, afterClose: after.open } }),
    };
    return { ...figures, faults: faultsOf(figures) };
  } finally {
    if (isAlive(child)) child.kill("SIGKILL");
    await database.drop();
  }
}
