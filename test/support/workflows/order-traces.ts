import type { SharedDatabase } from "./order-databases.ts";

/** A run's traces in the database, read directly. */
export interface OrderTraces {
  readonly status: string;
  /** Records that "create" made. */
  readonly items: number;
  /** The total that "count" added. */
  readonly counted: number;
  /** Whether "remove" has deleted its record. */
  readonly isRemoved: boolean;
  /** How often the code of each step ran, such as `{ "execute charge": 1 }`. */
  readonly calls: Readonly<Record<string, number>>;
  /** External effects, at most one per idempotency key. */
  readonly effects: readonly string[];
  /** Keys passed to the code of steps; one per step and phase. */
  readonly keys: number;
  /** Processes that ran its steps. */
  readonly processes: number;
}

type Rows = Record<string, unknown>[];

/** The traces of all runs, by id. */
export async function orderTraces({ query }: Pick<SharedDatabase, "query">): Promise<ReadonlyMap<string, OrderTraces>> {
  const runs = await query('SELECT id, status FROM "workflowRun"');
  const items = await query('SELECT "runId" FROM item');
  const counters = await query("SELECT id, value FROM counter");
  const markers = await query("SELECT id FROM marker");
  const calls = await query('SELECT "runId", step, phase, key, pid FROM call');
  const effects = await query('SELECT "runId", step, phase FROM effect ORDER BY "createdAt", id');
  const of = (rows: Rows, runId: unknown): Rows => rows.filter((row) => row.runId === runId);
  return new Map(
    runs.map(({ id, status }) => {
      const own = of(calls, id);
      const counts: Record<string, number> = {};
      for (const { phase, step } of own) counts[`${phase} ${step}`] = (counts[`${phase} ${step}`] ?? 0) + 1;
      return [
        String(id),
        {
          status: String(status),
          items: of(items, id).length,
          counted: Number(counters.find((row) => row.id === id)?.value),
          isRemoved: !markers.some((row) => row.id === id),
          calls: counts,
          effects: of(effects, id).map(({ phase, step }) => `${phase} ${step}`),
          keys: new Set(own.map(({ key }) => key)).size,
          processes: new Set(own.map(({ pid }) => pid)).size,
        },
      ];
    }),
  );
}

/** What is wrong with a finished run; empty if everything happened once, or everything was compensated. */
export function wrongWith({ status, items, counted, isRemoved, calls, effects, keys }: OrderTraces): string[] {
  const wrong: string[] = [];
  const expect = (holds: boolean, what: string): void => void (holds || wrong.push(what));
  const done = status === "completed" ? 1 : 0;
  expect(status === "completed" || status === "compensated", `it is ${status}`);
  expect(items === done, `"create" left ${items} records`);
  expect(counted === done, `"count" counted ${counted} times`);
  expect(isRemoved === (done === 1), `"remove" has ${isRemoved ? "" : "not "}removed`);
  expect(keys === Object.keys(calls).length, "a step was given several keys");
  // Only steps that allow it are repeated: idempotent steps, and compensations.
  for (const step of ["charge", "ship"]) expect((calls[`execute ${step}`] ?? 0) <= 1, `"${step}" ran more than once`);
  for (const step of ["charge", "notify", "ship"]) {
    const isDone = effects.includes(`execute ${step}`);
    const isTakenBack = effects.includes(`compensate ${step}`);
    if (done === 1) expect(isDone && !isTakenBack, `"${step}" was not done, or was taken back`);
    else expect(!isDone || isTakenBack, `"${step}" was not taken back`);
  }
  return wrong;
}
