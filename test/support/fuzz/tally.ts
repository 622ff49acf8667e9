import { writeFileSync } from "node:fs";

/** The results of one class of inputs. */
interface ClassTally {
  readonly database: string;
  readonly inputs: string;
  tried: number;
  survived: number;
  bytes: number;
  /** Responses by status; "none" if the server closed the connection without a response. */
  readonly statuses: Record<string, number>;
  readonly hosts: Record<string, number>;
}

/** Counts inputs, and writes the counts to the file that KEELSON_FUZZ_REPORT names. */
export function createTally(seed: number) {
  const classes: ClassTally[] = [];
  return {
    open(database: string, inputs: string) {
      const tally: ClassTally = { database, inputs, tried: 0, survived: 0, bytes: 0, statuses: {}, hosts: {} };
      classes.push(tally);
      return {
        try(host: string, bytes: number): void {
          tally.tried++;
          tally.bytes += bytes;
          tally.hosts[host] = (tally.hosts[host] ?? 0) + 1;
        },
        survive(statuses: readonly number[]): void {
          tally.survived++;
          for (const status of statuses.length === 0 ? ["none"] : statuses)
            tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
        },
      };
    },
    write(): void {
      const file = process.env.KEELSON_FUZZ_REPORT;
      const sum = (key: "tried" | "survived"): number => classes.reduce((total, one) => total + one[key], 0);
      const report = { seed, node: process.version, tried: sum("tried"), survived: sum("survived"), classes };
      if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
    },
  };
}

export type ClassCounter = ReturnType<ReturnType<typeof createTally>["open"]>;
