import { expect } from "vitest";
import { ConflictError, ReferencedError, ValidationFailedError } from "../../../src/kernel/index.ts";
import { type Database, everything } from "./database.ts";

/** Expectations about work that must fail and change nothing. */
export function refusals(database: Database) {
  /** Runs work that must fail and change nothing; returns the error. */
  async function failing(work: () => Promise<unknown>): Promise<unknown> {
    const before = await everything(database.driver);
    const outcome = await work().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    expect(await everything(database.driver)).toEqual(before);
    expect(outcome).toHaveProperty("error");
    return (outcome as { error: unknown }).error;
  }

  /** Runs work that must be a conflict; returns the columns. */
  async function conflict(work: () => Promise<unknown>): Promise<readonly string[]> {
    const error = await failing(work);
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).not.toBeInstanceOf(ReferencedError);
    return [...(error as ConflictError).fields].sort();
  }

  /** Runs work that must be refused for its references; returns their names. */
  async function dangling(work: () => Promise<unknown>): Promise<string[]> {
    const error = await failing(work);
    expect(error).toBeInstanceOf(ValidationFailedError);
    return Object.keys((error as ValidationFailedError).errors);
  }

  return { failing, conflict, dangling };
}
