import { datetime, entity, int, string } from "keelson";

/** Written when an import is complete, into the same database, so that the mark and the films cannot disagree. */
export const importRun = entity("importRun", {
  source: string.unique(),
  rows: int,
  imported: int,
  repaired: int,
  rejected: int,
  finishedAt: datetime,
})
  .timestamps(false)
  .internal();
