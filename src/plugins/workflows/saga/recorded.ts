import { ResultNotKept } from "./result-not-kept.ts";
import { RunGivenUp } from "./run-given-up.ts";

/**
 * Waits for an entry of the journal.
 * @throws RunGivenUp when it cannot be made; ResultNotKept as it is, since that is for the step to answer for
 */
export async function recorded(entry: Promise<void>): Promise<void> {
  try {
    await entry;
  } catch (error) {
    throw error instanceof RunGivenUp || error instanceof ResultNotKept ? error : new RunGivenUp(error);
  }
}
