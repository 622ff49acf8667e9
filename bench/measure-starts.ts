import type { Contender } from "./contenders.ts";
import type { ServerProcess } from "./server-process.ts";
import { median } from "./statistics.ts";

/** What starting a contender takes: medians over several starts, and the least and most that was seen. */
export interface StartFigures {
  readonly contender: string;
  readonly startMs: number;
  readonly startMsRange: readonly [min: number, max: number];
  readonly startCpuMs: number;
  readonly startCpuMsRange: readonly [min: number, max: number];
  readonly rssStartMb: number;
}

const megabyte = 1024 * 1024;

const rangeOf = (values: readonly number[]): [min: number, max: number] => [Math.min(...values), Math.max(...values)];

/**
 * Starts every contender so often, with nothing else running, and stops it at its first answer. Contenders take turns.
 * @param start starts one and waits for its first answer
 */
export async function measureStarts(
  contenders: readonly Contender[],
  times: number,
  start: (contender: Contender) => Promise<ServerProcess>,
): Promise<StartFigures[]> {
  const seen = contenders.map((): { ms: number; cpuMs: number; rssMb: number }[] => []);
  for (let time = 0; time < times; time++)
    for (const [index, contender] of contenders.entries()) {
      const server = await start(contender);
      const { startMs, atStart } = server;
      seen[index]?.push({ ms: startMs, cpuMs: atStart.cpuUs / 1000, rssMb: atStart.rssBytes / megabyte });
      await server.stop();
    }
  return contenders.map(({ id }, index) => {
    const starts = seen[index] ?? [];
    const ms = starts.map((one) => one.ms);
    const cpuMs = starts.map((one) => one.cpuMs);
    return {
      contender: id,
      startMs: median(ms),
      startMsRange: rangeOf(ms),
      startCpuMs: median(cpuMs),
      startCpuMsRange: rangeOf(cpuMs),
      rssStartMb: median(starts.map((one) => one.rssMb)),
    };
  });
}
