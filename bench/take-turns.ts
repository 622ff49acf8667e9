import { median } from "./statistics.ts";

const AT_ONCE = Number(process.env.BENCH_AT_ONCE ?? 16);

type Ask<C> = (contender: C, turn: number) => Promise<{ readonly status: number; readonly body: unknown }>;

/** Requests by the name of their kind. */
export type Workloads<C> = Readonly<Record<string, Ask<C>>>;

/** How often and how much is asked, and what of it is counted. */
export interface Turns<C> {
  readonly rounds: number;
  readonly requests: number;
  /** How many requests are under way at once. */
  readonly atOnce?: number;
  /** How many processes a contender has: each gets as many requests as one alone. */
  readonly processesOf?: (contender: C) => number;
  /** Called before each measurement. */
  readonly prepare?: (contender: C) => Promise<void>;
  /** Microseconds of CPU so far; absent for those of this process. */
  readonly cpuUs?: (contender: C) => Promise<number>;
}

async function ownCpuUs(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Microseconds of CPU per request. */
async function cpuOf<C>(ask: Ask<C>, contender: C, turns: Turns<C>): Promise<number> {
  const { atOnce = AT_ONCE, processesOf, prepare, cpuUs = ownCpuUs } = turns;
  const processes = processesOf?.(contender) ?? 1;
  const requests = turns.requests * processes;
  let turn = 0;
  const asker = async (): Promise<void> => {
    while (turn < requests) {
      const { status, body } = await ask(contender, turn++);
      if (status >= 300 || body === null) throw new Error(`status ${status}: ${String(body)}`);
    }
  };
  await prepare?.(contender);
  const before = await cpuUs(contender);
  await Promise.all(Array.from({ length: atOnce * processes }, asker));
  return ((await cpuUs(contender)) - before) / requests;
}

function range(numbers: readonly number[], digits: number): string {
  return `${median(numbers).toFixed(digits)} (${Math.min(...numbers).toFixed(digits)}–${Math.max(...numbers).toFixed(digits)})`;
}

/** Prints a table. Contenders take turns in each round, and ratios to the first one are taken within a round. */
export async function compareInTurns<C>(
  title: string,
  contenders: readonly (readonly [name: string, contender: C])[],
  workloads: Workloads<C>,
  turns: Turns<C>,
): Promise<void> {
  const names = contenders.map(([name]) => name);
  process.stdout.write(`\n| ${title}, CPU in µs | ${names.join(" | ")} |\n|---|${names.map(() => "---|").join("")}\n`);
  for (const [name, ask] of Object.entries(workloads)) {
    for (const [, one] of contenders) await cpuOf(ask, one, turns);
    const figures = contenders.map((): number[] => []);
    for (let round = 0; round < turns.rounds; round++)
      for (let turn = 0; turn < contenders.length; turn++) {
        const index = (turn + round) % contenders.length;
        const [, contender] = contenders[index] as (typeof contenders)[number];
        (figures[index] as number[])[round] = await cpuOf(ask, contender, turns);
      }
    const first = figures[0] as number[];
    const ratios = figures.map((of) => of.map((figure, round) => figure / (first[round] as number)));
    process.stdout.write(`| ${name} | ${figures.map((of) => range(of, 0)).join(" | ")} |\n`);
    process.stdout.write(`| × the first | ${ratios.map((of) => range(of, 2)).join(" | ")} |\n`);
  }
}
