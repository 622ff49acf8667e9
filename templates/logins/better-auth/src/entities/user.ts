import { entity, string } from "keelson";
import { userFields } from "keelson/better-auth";

// better-auth stores the password elsewhere. A caller cannot change their e-mail address or role.
export const user = entity("user", { ...userFields, nickname: string.trim().max(40).optional() })
  .ownedBy("id") // a user owns their own record
  .rules({ read: ["authenticated"], update: ["owner"] });
