import { afterEach, expect, it } from "vitest";
import { amount } from "../../support/suite.ts";
import { SHARED_DATABASES } from "../../support/workflows/order-databases.ts";
import { type OrderProcess, type RunOrder, startOrderProcess } from "../../support/workflows/order-process.ts";
import { orderTraces, wrongWith } from "../../support/workflows/order-traces.ts";
import { randomNumbers } from "../../support/workflows/random-numbers.ts";

const RUNS = amount(15, 100);
/** Maximum number of processes that die. */
const DEATHS = amount(3, 6);
const STEPS = ["create", "charge", "count", "notify", "remove", "ship"];

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

// CRASH_SEED repeats the plan of a failure: which runs fail where, and after how many points each process dies. The order of
// events between two points depends on the machine.
const seed = Number(process.env.CRASH_SEED ?? Math.trunc(Math.random() * 2 ** 31));

it.each(SHARED_DATABASES)(
  `completes or reverts ${RUNS} runs whose processes die anywhere, on %s (CRASH_SEED=${seed})`,
  async (_, open) => {
    const below = randomNumbers(seed);
    const database = await open();
    cleanups.push(database.drop);
    const runs: RunOrder[] = Array.from({ length: RUNS }, (_, i) => ({
      runId: `run-${i}`,
      fail: below(2) === 0 ? undefined : STEPS[below(STEPS.length)],
    }));
    let child: OrderProcess | undefined;
    let deaths = 0;
    for (;;) {
      // Some die at once; the last process has no limit of points, so it completes all runs.
      const points = deaths < DEATHS ? 1 + below(9 * RUNS) : undefined;
      const base = { database: database.address, engine: "journal", recoveryMs: 50, concurrency: 10 } as const;
      const push = deaths === 0 ? "auto" : "off";
      child = await startOrderProcess({ ...base, push, points, aheadMs: deaths * 3_600_000 });
      cleanups.push(child.kill);
      // Runs that the last process had no time to start.
      const begun = deaths === 0 ? [] : (await database.query('SELECT id FROM "workflowRun"')).map(({ id }) => id);
      child.send({ runs: runs.filter(({ runId }) => !begun.includes(runId)) });
      const settled = child.settled().then(() => true);
      const frozen = child.told(({ frozen }) => frozen === true).then(() => false);
      for (const one of [settled, frozen]) one.catch(() => {}); // the process ends before the other message arrives
      if (points === undefined ? await settled : await Promise.race([settled, frozen])) break;
      await child.kill();
      deaths += 1;
    }
    await child.close();
    const traces = await orderTraces(database);
    expect(traces.size).toBe(RUNS);
    const wrong = [...traces].map(([runId, run]) => [runId, wrongWith(run)]).filter(([, what]) => what?.length !== 0);
    expect({ seed, wrong }).toEqual({ seed, wrong: [] });
    expect(deaths).toBeGreaterThan(0);
  },
  120_000,
);
