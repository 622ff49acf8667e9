import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SharedDatabase } from "./order-databases.ts";
import { type OrderProcess, type RunOrder, startOrderProcess } from "./order-process.ts";
import { type OrderTraces, orderTraces, wrongWith } from "./order-traces.ts";

/** What the suite is run on. */
export interface CrashTarget {
  readonly engine: "journal" | "dbos";
  /** An empty database, and what a process of the app connects to. */
  open(): Promise<SharedDatabase>;
  /** Whether several transactions may stand open at the same time. */
  readonly concurrentTransactions: boolean;
}

type Ending = "completed" | "compensated";

/** Where a process dies, and how the run then ends. In the order of the run's own path. */
const PLAIN: readonly (readonly [place: string, ending: Ending])[] = [
  ["execute charge: before-start", "completed"],
  // Nobody knows whether it has happened, and it must not happen twice.
  ["execute charge: started", "compensated"],
  ["execute charge: inside", "compensated"],
  ["execute charge: after-effect", "compensated"],
  ["execute charge: after-commit", "completed"],
  ["execute charge: between", "completed"],
  // It has said that it may be repeated.
  ["execute notify: started", "completed"],
  ["execute notify: inside", "completed"],
  ["execute notify: after-effect", "completed"],
  // What is known and what is stored are one.
  ["execute create: before-start", "completed"],
  ["execute create: started", "completed"],
  ["execute create: after-commit", "completed"],
  ["execute count: started", "completed"],
  ["execute count: after-commit", "completed"],
  ["execute remove: started", "completed"],
  ["execute remove: between", "completed"],
  ["execute ship: before-start", "completed"],
  ["execute ship: after-effect", "compensated"],
  ["execute ship: after-commit", "completed"],
  ["execute ship: between", "completed"],
];
const HOLDING: typeof PLAIN = [
  ["execute create: inside", "completed"],
  ["execute count: after-effect", "completed"],
];
/** The last step fails, and the process dies while what was done is taken back. */
const COMPENSATIONS: readonly string[] = ["remove", "notify", "count", "charge", "create"].flatMap((step) =>
  ["before-start", "started", "after-commit", "between"].map((point) => `compensate ${step}: ${point}`),
);
const OUTSIDE: readonly string[] = ["notify", "charge"].flatMap((step) =>
  ["inside", "after-effect"].map((point) => `compensate ${step}: ${point}`),
);
const HOLDING_COMPENSATIONS: readonly string[] = ["remove", "create"].map((step) => `compensate ${step}: after-effect`);

interface Case extends RunOrder {
  readonly at: string;
  readonly ending: Ending;
}

const toCase = ([at, ending]: (typeof PLAIN)[number]): Case => ({ runId: at.replaceAll(/[ :]+/g, "-"), at, ending });
const toFailing = (at: string): Case => ({ ...toCase([at, "compensated"]), fail: "ship" });

/** Processes die at each point that a run has, and others go on. */
export function describeCrashes(name: string, { engine, open, concurrentTransactions }: CrashTarget): void {
  const free = [...PLAIN.map(toCase), ...[...COMPENSATIONS, ...OUTSIDE].map(toFailing)];
  const holding = [...HOLDING.map(toCase), ...HOLDING_COMPENSATIONS.map(toFailing)];
  // One process dies in many runs at once; with one writer, only one of them can have a transaction open.
  const [first = [], ...others] = concurrentTransactions ? [holding] : holding.map((one) => [one]);
  const deaths: readonly (readonly Case[])[] = [[...free, ...first], ...others];

  describe(`a process that is killed, on ${name}`, () => {
    let database: Awaited<ReturnType<typeof open>>;
    let process: OrderProcess | undefined;
    let traces: ReadonlyMap<string, OrderTraces>;

    beforeAll(async () => {
      database = await open();
      const base = { database: database.address, engine, recoveryMs: 50, concurrency: 8 } as const;
      for (const [generation, cases] of [...deaths, []].entries()) {
        const push = generation === 0 ? "auto" : "off";
        process = await startOrderProcess({ ...base, push, aheadMs: generation * 3_600_000 });
        if (generation > 0) await process.settled();
        // Those that hold a transaction come last: whoever comes after them waits.
        if (cases.length > 0) await process.stopAt(cases.filter((one) => !holding.includes(one)));
        if (cases.length > 0) await process.stopAt(cases.filter((one) => holding.includes(one)));
        if (cases.length > 0) await process.kill();
      }
      traces = await orderTraces(database);
    }, 120_000);
    afterAll(async () => {
      await process?.close();
      await database?.drop();
    });

    it.each([...free, ...holding].map((one) => [one.at, one] as const))("leaves nothing half done at %s", (_, one) => {
      const found = traces.get(one.runId) as OrderTraces;
      expect(found).toBeDefined();
      expect({ status: found.status, wrong: wrongWith(found) }).toEqual({ status: one.ending, wrong: [] });
    });
  });
}
