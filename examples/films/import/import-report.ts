import { writeFile } from "node:fs/promises";

/** A note about one row; rows count from 1. */
export interface RowNote {
  readonly row: number;
  readonly title: string;
  readonly reason: string;
}

/** The result for all rows: `imported + rejected = rows`; imported rows include repaired ones. */
export interface ImportReport {
  readonly source: string;
  readonly rows: number;
  readonly imported: number;
  readonly repaired: readonly RowNote[];
  readonly rejected: readonly RowNote[];
}

export async function writeReport(file: string, report: ImportReport): Promise<void> {
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
}

const SHOWN = 3;

/** The report in a few lines: every count, the first notes of each kind, and the place of the others. */
export function summarize(report: ImportReport, file: string, milliseconds: number): string {
  const { imported, repaired, rejected } = report;
  return [
    `Imported ${count(imported)} of ${count(report.rows)} rows in ${(milliseconds / 1000).toFixed(1)} s: ${count(repaired.length)} repaired, ${count(rejected.length)} rejected.`,
    ...notes("rejected", rejected),
    ...notes("repaired", repaired),
    `  Every note: ${file}`,
  ].join("\n");
}

function notes(kind: string, list: readonly RowNote[]): string[] {
  const lines = list.slice(0, SHOWN).map(({ row, title, reason }) => `  ${kind}  row ${row}, ${title}: ${reason}`);
  return list.length > SHOWN ? [...lines, `  ${kind}  ... and ${count(list.length - SHOWN)} more`] : lines;
}

function count(value: number): string {
  return value.toLocaleString("en");
}
