import type { ResponseRights } from "../../gate/index.ts";
import { CountableRecords, type KeptCountable } from "./countable-records.ts";
import { hasLost, hasStill, type Rights, rightsNow } from "./rights.ts";

/** Noted rights as plain data. */
interface NotedRights extends Rights {
  readonly countable: KeptCountable;
}

/**
 * Rights that are noted several times, as after each step of a workflow. Between two notes no right may have been lost;
 * counts may have another result, since the work itself may have added records.
 */
export const responseRights: ResponseRights = Object.freeze<ResponseRights>({
  async note(scope, shown) {
    const before = shown.rights as NotedRights | undefined;
    const countable = new CountableRecords(before?.countable);
    if (before !== undefined && (await hasLost(scope, before))) shown.isKnown = false;
    if (await countable.areLost(scope)) shown.isKnown = false;
    await countable.note(scope, shown);
    const noted: NotedRights = { ...(await rightsNow(scope, shown)), countable: await countable.kept() };
    shown.rights = noted;
  },
  async areHeld(scope, { isKnown, rights }) {
    return isKnown && rights !== undefined && (await hasStill(scope, rights as NotedRights));
  },
});
