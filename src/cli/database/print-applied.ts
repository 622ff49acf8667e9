import type { Output } from "../shell/output.ts";

/** What was applied, for people. */
export function printApplied(output: Output, applied: readonly string[]): void {
  for (const name of applied) output.line(`Applied: ${name}`);
  if (applied.length === 0) output.line("No migration was pending.");
}
