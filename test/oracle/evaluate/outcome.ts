import type { EntityModel, Model, Principal } from "../model.ts";
import type { Reach } from "./rules.ts";
import type { World } from "./world.ts";

/** One permitted end of a step. Most steps have one; where the documents leave it open, there are several. */
export interface Outcome {
  readonly status: number;
  /** The response; undefined if it is not compared. */
  readonly body?: unknown;
  /** Of lists: the total number of matching records. */
  readonly total?: number;
  /** The contents of the database afterwards; undefined if nothing changes. */
  readonly world?: World;
}

/** The context of every evaluation. */
export interface Setting {
  readonly model: Model;
  readonly world: World;
  readonly entity: EntityModel;
  readonly by: Principal;
  readonly inProcess?: true;
}

/** A text that stands for any datetime, such as the time of a deletion. */
export const SOME_MOMENT = "*moment*";

export const refused = (by: Principal): Outcome => ({ status: by === null ? 401 : 403 });
/** The refusal for one record: an authenticated caller must not learn that it exists if the entity hides it. */
export const refusedOne = ({ entity, by }: Setting): Outcome =>
  by !== null && entity.hideForbidden ? { status: 404 } : refused(by);
/** The record is missing. Anonymous callers with rules for some records cannot distinguish it from a forbidden one. */
export const missing = ({ by }: Setting, reach: Reach): Outcome => ({
  status: by === null && reach === "some" ? 401 : 404,
});
export const INVALID: Outcome = { status: 400 };
export const CONFLICT: Outcome = { status: 409 };
