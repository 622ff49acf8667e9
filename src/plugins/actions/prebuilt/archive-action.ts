import type { ActionBuilder } from "../action/action-builder.ts";
import { type SetFlagShape, setFlag } from "./set-flag.ts";

/** `POST /:id/archive` sets the bool field `archived`, by the rules of update (spec 4.2). */
export function archiveAction(): ActionBuilder<SetFlagShape> {
  return setFlag("archive", "archived", true);
}
