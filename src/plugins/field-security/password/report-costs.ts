import type { Logger } from "../../../kernel/index.ts";
import type { PasswordColumn } from "./password-columns.ts";
import { findingsOfCost } from "./password-cost.ts";

/** Where findings go. */
export interface CostReport {
  readonly production: boolean;
  readonly log: Logger;
  problem(sentence: string): void;
}

/** Reports hashed fields that cost too little to protect anybody, or more than people like to wait. */
export function reportCosts(
  columns: ReadonlyMap<string, readonly PasswordColumn[]>,
  { production, log, problem }: CostReport,
): void {
  for (const [entity, own] of columns)
    for (const { name, cost } of own) {
      const { problems, warnings } = findingsOfCost(`${entity}.${name}`, cost, production);
      for (const sentence of problems) problem(sentence);
      for (const sentence of warnings) log.warn(sentence);
    }
}
