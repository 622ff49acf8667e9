import type { ActionBuilder } from "../action/action-builder.ts";
import { type SetFlagShape, setFlag } from "./set-flag.ts";

/** `POST /:id/unarchive` clears the bool field `archived`, by the rules of update (spec 4.2). */
export function unarchiveAction(): ActionBuilder<SetFlagShape> {
  return setFlag("unarchive", "archived", false);
}
