import { median } from "./statistics.ts";

const AT_ONCE = Number(process.env.BENCH_AT_ONCE ?? 16);

type Ask<C> = (contender: C, turn: number) => Promise<{ readonly status: number; readonly body: unknown }>;

/** Requests by the name of their kind. */
export type Workloads<C> = Readonly<Record<string, Ask<C>>>;

/** Microseconds of this process's CPU per request. */
async function cpuOf<C>(ask: Ask<C>, contender: C, requests: number): Promise<number> {
  let turn = 0;
  const asker = async (): Promise<void> => {
    while (turn < requests) {
      const { status, body } = await ask(contender, turn++);
      if (status >= 300 || body === null) throw new Error(`status ${status}: ${String(body)}`);
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: AT_ONCE }, asker));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

function range(numbers: readonly number[], digits: number): string {
  return `${median(numbers).toFixed(digits)} (${Math.min(...numbers).toFixed(digits)}–${Math.max(...numbers).toFixed(digits)})`;
}

/** Prints a table. Contenders take turns in each round, and ratios to the first one are taken within a round. */
export async function compareInTurns<C>(
  title: string,
  contenders: readonly (readonly [name: string, contender: C])[],
  workloads: Workloads<C>,
  { rounds, requests }: { readonly rounds: number; readonly requests: number },
): Promise<void> {
  const names = contenders.map(([name]) => name);
  process.stdout.write(`\n| ${title}, CPU in µs | ${names.join(" | ")} |\n|---|${names.map(() => "---|").join("")}\n`);
  for (const [name, ask] of Object.entries(workloads)) {
    for (const [, one] of contenders) await cpuOf(ask, one, requests);
    const figures = contenders.map((): number[] => []);
    for (let round = 0; round < rounds; round++)
      for (let turn = 0; turn < contenders.length; turn++) {
        const index = (turn + round) % contenders.length;
        const [, contender] = contenders[index] as (typeof contenders)[number];
        (figures[index] as number[])[round] = await cpuOf(ask, contender, requests);
      }
    const first = figures[0] as number[];
    const ratios = figures.map((of) => of.map((figure, round) => figure / (first[round] as number)));
    process.stdout.write(`| ${name} | ${figures.map((of) => range(of, 0)).join(" | ")} |\n`);
    process.stdout.write(`| × the first | ${ratios.map((of) => range(of, 2)).join(" | ")} |\n`);
  }
}
