import type { Condition } from "../../../../gate/index.ts";

/** Which pairs are wanted: of which records, with what at the other end, and how many at most. */
export interface WantedLinks {
  readonly ids: readonly string[];
  readonly condition: Condition;
  readonly limit: number;
}
