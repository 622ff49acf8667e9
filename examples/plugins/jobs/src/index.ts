// Jobs that run at intervals, in one process of the app at a time: a lease in the database determines which one.
import { randomUUID } from "node:crypto";
import { datetime, entity, schemaFromEntities, string } from "keelson";
import { ConflictError, createPluginFactory, type OperationScope, type PluginContext } from "keelson/plugin";

/** A job: its work, its interval, and its lease. */
export interface Job {
  /** Milliseconds from one run to the next, over all processes. */
  readonly every: number;
  /** Milliseconds until another process may take over from one that died. @default 60000 */
  readonly lease?: number;
  /** The work, with the system's rights. */
  run(scope: OperationScope, clients: ReturnType<PluginContext["clientFor"]>): Promise<unknown>;
}

/** Jobs by name. */
export interface JobsOptions {
  readonly jobs: Readonly<Record<string, Job>>;
}

const jobRun = entity("jobRun", { name: string.unique(), nextAt: datetime, holder: string }).timestamps(false);

interface JobsState {
  readonly timers: Map<string, NodeJS.Timeout>;
  readonly working: Set<Promise<void>>;
}

export const jobs = createPluginFactory<JobsOptions>((options) => ({
  id: "example/jobs",
  schema: schemaFromEntities([jobRun], { internal: true }),
  setup({ problem }): JobsState {
    const all = Object.entries(options.jobs ?? {});
    if (all.length === 0) problem("jobs: there are no jobs");
    for (const [name, { every }] of all)
      if (!(every > 0)) problem(`jobs: "${name}" needs \`every\`, a number of milliseconds above 0`);
    return { timers: new Map(), working: new Set() };
  },
  start(context, { timers, working }: JobsState) {
    for (const [name, job] of Object.entries(options.jobs ?? {})) {
      const again = (): void => {
        const work = runWhenDue(context, name, job)
          .catch((error: unknown) => context.log.error("A job failed", { job: name, error: String(error) }))
          .finally(() => working.delete(work));
        working.add(work);
        void work.then(() => {
          if (timers.has(name)) timers.set(name, setTimeout(again, Math.min(job.every, 1_000)).unref());
        });
      };
      timers.set(name, setTimeout(again, 0).unref());
    }
  },
  async stop(_context, { timers, working }: JobsState) {
    for (const timer of timers.values()) clearTimeout(timer);
    timers.clear();
    await Promise.all(working);
  },
}));

async function runWhenDue({ driver, runAs, clientFor }: PluginContext, name: string, job: Job): Promise<void> {
  const { every, lease = 60_000, run } = job;
  const now = Date.now();
  const holder = randomUUID();
  const first = { id: randomUUID(), name, nextAt: new Date(now + lease), holder };
  const known = await driver.findOne("jobRun", { name });
  // Only one of several processes changes or stores the row; the others find another `nextAt`, or get a conflict.
  const isOurs =
    known === null
      ? await driver.create("jobRun", first).then(() => true, ignoreConflict)
      : (known.nextAt as Date).getTime() <= now &&
        (await driver.updateMany(
          "jobRun",
          { name, holder: known.holder, nextAt: known.nextAt },
          { nextAt: first.nextAt, holder },
        )) === 1;
  if (!isOurs) return;
  try {
    await runAs("system", (scope) => run(scope, clientFor(scope)));
  } finally {
    await driver.updateMany("jobRun", { name, holder }, { nextAt: new Date(now + every) });
  }
}

function ignoreConflict(error: unknown): false {
  if (error instanceof ConflictError) return false;
  throw error;
}
