import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SharedDatabase } from "./order-databases.ts";
import { type OrderProcess, type RunOrder, startOrderProcess } from "./order-process.ts";
import { type OrderTraces, orderTraces, wrongWith } from "./order-traces.ts";

/** The databases of the suite. */
export interface CrashTarget {
  readonly engine: "journal" | "dbos";
  /** An empty database, and its address for the app's processes. */
  open(): Promise<SharedDatabase>;
  /** Whether several transactions may be open at the same time. */
  readonly concurrentTransactions: boolean;
}

type Ending = "completed" | "compensated";

/** The point at which a process dies, and the run's expected end. In the order of the run's path. */
const PLAIN: readonly (readonly [place: string, ending: Ending])[] = [
  ["execute charge: before-start", "completed"],
  // It is unknown whether the call took effect, and it must not run twice.
  ["execute charge: started", "compensated"],
  ["execute charge: inside", "compensated"],
  ["execute charge: after-effect", "compensated"],
  ["execute charge: after-commit", "completed"],
  ["execute charge: between", "completed"],
  // The step declares that it may be repeated.
  ["execute notify: started", "completed"],
  ["execute notify: inside", "completed"],
  ["execute notify: after-effect", "completed"],
  // The result and the journal are stored together.
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
/** The last step fails, and the process dies during compensation. */
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

/** Processes die at each point of a run, and others continue it. */
export function describeCrashes(name: string, { engine, open, concurrentTransactions }: CrashTarget): void {
  const free = [...PLAIN.map(toCase), ...[...COMPENSATIONS, ...OUTSIDE].map(toFailing)];
  const holding = [...HOLDING.map(toCase), ...HOLDING_COMPENSATIONS.map(toFailing)];
  // One process dies in many runs at once; a database with a single writer allows only one of them an open transaction.
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
        // Points inside a transaction come last, because later ones would wait for it.
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

    it.each([...free, ...holding].map((one) => [one.at, one] as const))("leaves no step half done at %s", (_, one) => {
      const found = traces.get(one.runId) as OrderTraces;
      expect(found).toBeDefined();
      expect({ status: found.status, wrong: wrongWith(found) }).toEqual({ status: one.ending, wrong: [] });
    });
  });
}
