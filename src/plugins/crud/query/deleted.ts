import type { OperationQuery } from "../../../gate/index.ts";
import { addProblem, type Reading, single } from "./reading.ts";

/** Its name, which means nothing on entities without soft deletion. */
export const DELETED = "_deleted";

/** Reads whether records that are softly deleted are asked for, too, or nothing but these. */
export function readDeleted(reading: Reading): OperationQuery["deleted"] {
  const word = single(reading, DELETED);
  if (word === undefined || word === "with" || word === "only") return word;
  addProblem(reading, DELETED, `"${DELETED}" takes the values with and only.`);
  return undefined;
}
