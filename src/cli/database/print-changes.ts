import type { SchemaChange } from "../../drivers/prisma/index.ts";
import type { Output } from "../shell/output.ts";

/** What would change, a line each, those that lose values first and marked. */
export function printChanges(output: Output, changes: readonly SchemaChange[]): void {
  const [losses, others] = [true, false].map((lost) => changes.filter(({ destructive }) => destructive === lost));
  for (const { sentence } of losses ?? []) output.line(`${output.style("red", "loses values")}  ${sentence}`);
  for (const { sentence } of others ?? []) output.line(`              ${sentence}`);
}
