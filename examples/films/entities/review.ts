import { belongsTo, entity, int, text } from "keelson";
import { film } from "./film.ts";
import { user } from "./user.ts";

export const review = entity("review", {
  text: text.trim().min(1).max(2000),
  stars: int.min(1).max(5),
  // For the author only: other callers do not get it, and the database contains ciphertext.
  note: text.max(2000).encrypted().readable("owner").optional(),
  film: belongsTo(() => film).onDelete("cascade"),
  author: belongsTo(() => user).onDelete("cascade"),
})
  // The author is taken from the caller, who cannot write in another person's name.
  .ownedBy("author")
  // One review per person and film.
  .unique(["authorId", "filmId"])
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["ownerOrAdmin"] });
