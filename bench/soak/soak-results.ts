import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { markdownTable } from "../markdown-table.ts";
import type { Growth } from "./memory-growth.ts";
import type { SoakResult } from "./soak.ts";
import type { DatabaseKind } from "./soak-database.ts";

/** A run, and what it was of. */
export interface PublishedRun extends SoakResult {
  /** As git describes it; "dirty" with changes that are not committed. */
  readonly commit: string;
}

/** The last whole run on each database. */
export interface SoakResults {
  readonly date: string;
  readonly node: string;
  readonly runs: { readonly [K in DatabaseKind]?: PublishedRun };
}

const MB = 1024 * 1024;
const whole = (value: number): string => value.toLocaleString("en");
const change = ({ firstBytes, lastBytes }: Growth): string =>
  `${(firstBytes / MB).toFixed(1)} → ${(lastBytes / MB).toFixed(1)} MB`;
const perRequest = ({ bytesPerRequest }: Growth): string => `${bytesPerRequest.toFixed(1)} B`;

const LINES: readonly (readonly [string, (result: SoakResult) => string])[] = [
  ["requests", ({ requests }) => whole(requests)],
  ["seconds", ({ seconds }) => whole(Math.round(seconds))],
  ["answers that were not what they had to be", ({ wrong }) => whole(wrong)],
  ["answers of 5xx", ({ serverErrors }) => whole(serverErrors)],
  ["acknowledged writes", ({ acknowledgedWrites }) => whole(acknowledgedWrites)],
  ["of them not in the database at the end", ({ lostWrites }) => whole(lostWrites)],
  ["resident set, first and last quarter after the warm-up", ({ rss }) => change(rss)],
  ["its slope per request", ({ rss }) => perRequest(rss)],
  ["heap after collection, first and last quarter", ({ heap }) => change(heap)],
  ["its slope per request", ({ heap }) => perRequest(heap)],
  [
    "open files at the start and at the end",
    ({ atStart, atEnd }) => `${atStart.descriptors ?? "–"} → ${atEnd.descriptors ?? "–"}`,
  ],
  ["connections of clients at the end", ({ atEnd }) => whole(atEnd.connections)],
  [
    "connections to the database at the end, after closing",
    ({ databaseConnections }) =>
      databaseConnections === undefined ? "–" : `${databaseConnections.open}, ${databaseConnections.afterClose}`,
  ],
];

/** Runs side by side. */
export function soakTable(results: readonly SoakResult[]): string {
  return markdownTable(
    ["", ...results.map(({ database }) => database)],
    LINES.map(([name, figure]) => [name, ...results.map(figure)]),
  );
}

export function readSoakResults(file: string): SoakResults {
  if (!existsSync(file)) return { date: "", node: "", runs: {} };
  return JSON.parse(readFileSync(file, "utf8")) as SoakResults;
}

/** Puts runs in the place of older ones on the same databases. */
export function writeSoakResults(file: string, runs: SoakResults["runs"]): void {
  const date = new Date().toISOString().slice(0, 10);
  const { postgres, embedded } = { ...readSoakResults(file).runs, ...runs };
  const results: SoakResults = {
    date,
    node: process.version,
    runs: { ...(postgres && { postgres }), ...(embedded && { embedded }) },
  };
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
}
