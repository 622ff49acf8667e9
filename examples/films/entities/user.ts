import { entity, enums, hasMany, string } from "keelson";
import { review } from "./review.ts";

/** A public profile: what is in it may be seen by everybody, so it holds a name and nothing private. */
export const user = entity("user", {
  name: string.trim().min(1).max(80),
  // Without .readonly() a person who may change the own name could also make themselves an admin.
  role: enums("person", "admin").default("person").readonly(),
  reviews: hasMany(() => review),
})
  .ownedBy("id")
  .rules({ read: ["everyone"], create: ["admin"], update: ["ownerOrAdmin"], delete: ["admin"] });
