import type { ResponseRights } from "../../gate/index.ts";
import { CountableRecords, type KeptCountable } from "./countable-records.ts";
import { hasLost, hasStill, type RightDetails, type Rights, rightsNow } from "./rights.ts";

/** Noted rights as plain data. */
interface NotedRights extends Rights {
  readonly details: RightDetails;
  readonly countable: KeptCountable;
}

/**
 * Rights that are noted several times, as after each step of a workflow. Between two notes, no right to a record may have
 * been lost. Counts may have another result, since the work itself may have added records, and a use may have ended.
 */
export const responseRights: ResponseRights = Object.freeze<ResponseRights>({
  note: (scope, shown) =>
    scope.anew(async (fresh) => {
      const before = shown.rights as NotedRights | undefined;
      const countable = new CountableRecords(before?.countable);
      const isLost =
        (before !== undefined && (await hasLost(fresh, before, before.details))) || (await countable.areLost(fresh));
      await countable.note(fresh, shown);
      const { rights, details } = await rightsNow(fresh, shown);
      const noted: NotedRights = { ...rights, details, countable: await countable.kept() };
      shown.rights = noted;
      if (isLost) shown.isKnown = false;
    }),
  areHeld: (scope, { isKnown, rights }) =>
    scope.anew(async (fresh) => isKnown && rights !== undefined && (await hasStill(fresh, rights as NotedRights))),
});
