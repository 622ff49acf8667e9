import { email, entity, enums, hasMany, string } from "keelson";
import { login, PASSWORD_COST } from "../login.ts";
import { review } from "./review.ts";

/** A public profile: everybody sees the name, and what is private says so. */
export const user = entity("user", {
  name: string.trim().min(1).max(80),
  email: email.trim().lower().unique().readable("owner", "admin"),
  // Eight characters or more; hashed before it is stored, and in no answer.
  password: string.password({ cost: PASSWORD_COST }),
  // Without .readonly() a person who may change the own name could also make themselves an admin.
  role: enums("person", "admin").default("person").readonly(),
  reviews: hasMany(() => review),
})
  .ownedBy("id")
  .rules({ read: ["everyone"], create: ["admin"], update: ["ownerOrAdmin"], delete: ["admin"] })
  .actions({ login });
