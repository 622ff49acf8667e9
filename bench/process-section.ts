import type { Cell, Section } from "./report-sections.ts";
import type { Results } from "./results.ts";

const whole = (value: number | undefined): Cell | undefined =>
  value === undefined || !Number.isFinite(value) ? undefined : { text: value.toFixed(0), value };

function spread(value: number, range: readonly [number, number] | undefined): Cell {
  const text =
    range === undefined ? value.toFixed(0) : `${value.toFixed(0)} (${range.map((one) => one.toFixed(0)).join("–")})`;
  return { text, value, ...(range && { range }) };
}

/** How long servers take to start, and the memory they have. */
export function processSection({ processes, samples, settings }: Results): Section {
  const peak = (contender: string): number =>
    Math.max(
      ...samples.flatMap(({ workload, contender: of, peakRssMb }) =>
        workload === "export" && of === contender && peakRssMb !== undefined ? [peakRssMb] : [],
      ),
    );
  return {
    title: "Start and memory",
    note: `Medians of ${settings.starts ?? 1} starts, with the least and the most; memory is the resident set.`,
    plot: "bar",
    columns: [
      "start to first answer, ms",
      "CPU until then, ms",
      "RSS at start, MB",
      "RSS after load, MB",
      "peak RSS during export, MB",
    ],
    rows: processes.map((one) => ({
      contender: one.contender,
      cells: [
        spread(one.startMs, one.startMsRange),
        spread(one.startCpuMs, one.startCpuMsRange),
        whole(one.rssStartMb),
        whole(one.rssAfterMb),
        whole(peak(one.contender)),
      ],
    })),
  };
}
