import { email, entity, enums, hasMany, string } from "keelson";
import { login, PASSWORD_COST } from "../login.ts";
import { review } from "./review.ts";

/** A public profile: everyone sees the name; private fields have their own rules. */
export const user = entity("user", {
  name: string.trim().min(1).max(80),
  email: email.trim().lower().unique().readable("owner", "admin"),
  // At least eight characters; hashed before it is stored, and never returned.
  password: string.password({ cost: PASSWORD_COST }),
  // Without .readonly(), people who may change their name could also make themselves an admin.
  role: enums("person", "admin").default("person").readonly(),
  reviews: hasMany(() => review),
})
  .ownedBy("id")
  .rules({ read: ["everyone"], create: ["admin"], update: ["ownerOrAdmin"], delete: ["admin"] })
  .actions({ login });
