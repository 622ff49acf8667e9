import { belongsTo, bool, datetime, entity, string, toggleAction } from "keelson";
import { user } from "./user.ts";

export const task = entity("task", {
  title: string.trim().min(1).max(200),
  done: bool.default(false),
  due: datetime.optional(),
  owner: belongsTo(() => user).onDelete("cascade"),
})
  .ownedBy("owner") // taken from the caller on create
  .rules({ create: ["authenticated"], read: ["owner"], update: ["owner"], delete: ["owner"] })
  .actions({ toggleDone: toggleAction("done") });
