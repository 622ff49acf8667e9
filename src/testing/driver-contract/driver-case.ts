import assert from "node:assert/strict";
import type { Driver } from "../../gate/index.ts";
import type { ConflictError, ValidationFailedError } from "../../kernel/index.ts";
import { everything } from "./library.ts";

/** One rule of the contract. */
export interface DriverCase {
  /** The rule, in the present tense. */
  readonly title: string;
  /** Resolves, or rejects with the expected and the actual value. */
  run(driver: Driver): Promise<void>;
}

/** The expected error of a statement. */
export interface Refusal {
  readonly code: string;
  /** The columns of a conflict, or the dangling keys. @default not compared */
  readonly fields?: readonly string[];
}

/** Asserts that work fails with a Keelson error and changes nothing. */
export async function expectRefusal(driver: Driver, work: () => Promise<unknown>, refusal: Refusal): Promise<void> {
  const before = await everything(driver);
  const outcome = await work().then(
    () => undefined,
    (error: unknown) => error as Partial<ConflictError & ValidationFailedError>,
  );
  assert.ok(outcome !== undefined, `it is not refused, and ${refusal.code} was expected`);
  assert.equal(outcome.code, refusal.code);
  const { fields = Object.keys(outcome.errors ?? {}) } = outcome;
  if (refusal.fields !== undefined) assert.deepEqual([...fields].sort(), [...refusal.fields].sort());
  assert.deepEqual(await everything(driver), before, "a refused statement has changed something");
}
