import type { Driver } from "../../gate/index.ts";

/** One rule of the contract. */
export interface DriverCase {
  /** What a driver does, in the present tense. */
  readonly title: string;
  /** Passes, or rejects with what was expected and what there was. */
  run(driver: Driver): Promise<void>;
}
