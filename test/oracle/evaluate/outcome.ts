import type { EntityModel, Model, Principal } from "../model.ts";
import type { Reach } from "./rules.ts";
import type { World } from "./world.ts";

/** One way in which a step may end. Most steps have one; where the documents leave it open, there are several. */
export interface Outcome {
  readonly status: number;
  /** What is answered; undefined where it is not compared. */
  readonly body?: unknown;
  /** Of lists: how many records match in all. */
  readonly total?: number;
  /** What the database holds afterwards; undefined where nothing changes. */
  readonly world?: World;
}

/** What every question is asked with. */
export interface Setting {
  readonly model: Model;
  readonly world: World;
  readonly entity: EntityModel;
  readonly by: Principal;
  readonly inProcess?: true;
}

/** A text that stands for any moment: when something was deleted. */
export const SOME_MOMENT = "*moment*";

export const refused = (by: Principal): Outcome => ({ status: by === null ? 401 : 403 });
/** The refusal of one record: who is signed in is not told that it is there, where the entity hides it. */
export const refusedOne = ({ entity, by }: Setting): Outcome =>
  by !== null && entity.hideForbidden ? { status: 404 } : refused(by);
/** There is no such record. Anonymous callers that rules narrow to some records cannot tell it from one they may not have. */
export const missing = ({ by }: Setting, reach: Reach): Outcome => ({
  status: by === null && reach === "some" ? 401 : 404,
});
export const INVALID: Outcome = { status: 400 };
export const CONFLICT: Outcome = { status: 409 };
