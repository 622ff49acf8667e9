import { email, entity, enums, string } from "keelson";
import { login } from "../login.ts";

export const user = entity("user", {
  name: string.trim().min(1).max(80),
  email: email.trim().lower().unique().readable("owner", "admin"),
  password: string.password(), // hashed, and in no answer
  phone: string.max(40).optional().encrypted().readable("owner"),
  role: enums("person", "admin").default("person").readonly(), // a caller cannot make themselves an admin
})
  .ownedBy("id") // a user owns their own record
  .rules({ create: ["everyone"], read: ["authenticated"], update: ["owner"], delete: ["ownerOrAdmin"] })
  .actions({ login });
