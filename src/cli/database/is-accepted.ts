import type { SchemaChange } from "../../drivers/prisma/index.ts";
import type { Output } from "../shell/output.ts";

/** Whether a plan may be carried out; if not, what to do about it has been said. */
export function isAccepted(output: Output, changes: readonly SchemaChange[], accepted: boolean): boolean {
  const losses = changes.filter(({ destructive }) => destructive).length;
  if (losses === 0 || accepted) return true;
  output.error(
    `${losses === 1 ? "A change loses" : `${losses} changes lose`} values, so nothing was changed. ` +
      'Keep a renamed column with .renamedFrom("old"), or accept the loss: --accept-data-loss',
  );
  return false;
}
