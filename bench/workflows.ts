// What a workflow costs per step: in memory and with a journal, against the same work done by hand.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import {
  bool,
  createEntityStep,
  type Driver,
  embedded,
  entity,
  executeWorkflow,
  keelson,
  noopLogger,
  postgres,
  runWorkflow,
  string,
  WorkflowBuilder,
  type WorkflowDefinition,
  type WorkflowResult,
  workflows,
} from "../src/index.ts";
import { benchDatabaseUrl } from "./database.ts";
import { median } from "./statistics.ts";

const STEPS = 3;
const ROUNDS = 7;
const RUNS = { memory: 5_000, database: 100 };

const row = entity("row", { text: string, done: bool });

/** One way to do the work; `run` does it once. */
interface Contender {
  readonly name: string;
  /** Whom it is compared with. */
  readonly reference?: string;
  run(): Promise<unknown>;
}

const names = Array.from({ length: STEPS }, (_, i) => `step ${i}`);
const stepsOf = (name: string, add: (made: WorkflowBuilder, step: string) => WorkflowBuilder): WorkflowDefinition =>
  names.reduce(add, new WorkflowBuilder(name)).build();

async function succeeds(run: Promise<WorkflowResult>): Promise<void> {
  const { success, error } = await run;
  if (!success) throw error;
}

const nothing = async (): Promise<number> => 1;
const empty = stepsOf("empty", (made, name) => made.step(name, nothing));

const inMemory: readonly Contender[] = [
  {
    name: "three empty functions, awaited",
    async run() {
      for (const _ of names) await nothing();
    },
  },
  { name: "executeWorkflow, empty steps", run: () => succeeds(executeWorkflow(empty)) },
];

/** The ways to write three records to a database. */
async function onDatabase(driver: Driver): Promise<{ contenders: readonly Contender[]; close(): Promise<void> }> {
  let count = 0;
  const data = () => ({ text: "a record", done: true });
  const write = (to: Driver) => {
    const now = new Date();
    return to.create("row", { id: `row-${++count}`, ...data(), createdAt: now, updatedAt: now });
  };
  const writes = stepsOf("writes", (made, name) => made.step(name, (context) => write(context.driver)));
  const creates = stepsOf("creates", (made, name) => made.addStep(createEntityStep(name, row, data)));
  const known: readonly WorkflowDefinition[] = [writes, creates];
  const api = keelson({
    entities: [row],
    driver,
    logger: noopLogger,
    plugins: (defaults) => defaults.replace("workflows", workflows({ workflows: known, journal: true })),
  });
  await api.ready;
  const context = { resolve: api.resolve, asSystem: true };
  const rows = api.asSystem().row;
  const writing = "driver.create by hand";
  const creating = "client.create by hand";
  const contenders: readonly Contender[] = [
    {
      name: writing,
      async run() {
        for (const _ of names) await write(api.driver);
      },
    },
    { name: "executeWorkflow", reference: writing, run: () => succeeds(executeWorkflow(api.driver, writes)) },
    { name: "runWorkflow, journal", reference: writing, run: () => succeeds(runWorkflow(writes, context)) },
    {
      name: creating,
      async run() {
        for (const _ of names) await rows.create(data());
      },
    },
    { name: "entity steps, journal", reference: creating, run: () => succeeds(runWorkflow(creates, context)) },
  ];
  return { contenders, close: () => api.close() };
}

/** CPU microseconds of this process per step: one sample per contender and round, taking turns. */
async function measure(contenders: readonly Contender[], runs: number): Promise<ReadonlyMap<string, number[]>> {
  const samples = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = -1; round < ROUNDS; round++)
    for (const index of contenders.keys()) {
      const { name, run } = contenders[(index + round + 1) % contenders.length] as Contender;
      const before = process.cpuUsage();
      for (let i = 0; i < runs; i++) await run();
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) samples.get(name)?.push((user + system) / (runs * STEPS)); // the first one warms up
    }
  return samples;
}

function report(
  title: string,
  contenders: readonly Contender[],
  samples: ReadonlyMap<string, readonly number[]>,
): void {
  process.stdout.write(`\n${title}\n`);
  for (const { name, reference } of contenders) {
    const own = samples.get(name) ?? [];
    const ratios = samples.get(reference ?? "")?.map((other, round) => (own[round] as number) / other);
    const compared =
      ratios === undefined
        ? ""
        : `${median(ratios).toFixed(1)} × by hand (${Math.min(...ratios).toFixed(1)}–${Math.max(...ratios).toFixed(1)})`;
    process.stdout.write(
      `  ${name.padEnd(32)}${`${median(own).toFixed(1)} µs CPU per step`.padStart(24)}   ${compared}\n`,
    );
  }
}

async function compare(title: string, driver: Driver): Promise<void> {
  const { contenders, close } = await onDatabase(driver);
  try {
    report(title, contenders, await measure(contenders, RUNS.database));
  } finally {
    await close();
  }
}

/** An empty database on the server of the benchmarks, or undefined when none answers. */
async function freshPostgres(): Promise<string | undefined> {
  const url = new URL(benchDatabaseUrl());
  const name = `${url.pathname.slice(1)}_workflows`;
  url.pathname = "/postgres";
  const admin = new Client({ connectionString: url.href });
  try {
    await admin.connect();
  } catch {
    return undefined;
  }
  await admin.query(`DROP DATABASE IF EXISTS ${name}`);
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
  await admin.end();
  url.pathname = `/${name}`;
  return url.href;
}

report("In memory", inMemory, await measure(inMemory, RUNS.memory));
const folder = await mkdtemp(join(tmpdir(), "keelson-bench-"));
await compare("Embedded SQLite", embedded({ file: join(folder, "bench.db") }));
await rm(folder, { recursive: true, force: true });
const url = await freshPostgres();
if (url === undefined) process.stdout.write("\nNo PostgreSQL answers, so there are no figures for it.\n");
else await compare("PostgreSQL (this process only)", postgres(url));
