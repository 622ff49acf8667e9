import { datetime, entity, int, string } from "keelson";

/** Marks a complete import, in the same database, so that the mark and the films always agree. */
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
