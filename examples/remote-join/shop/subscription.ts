import { belongsTo, datetime, entity, enums, int, string } from "keelson";

const plan = entity("plan", { name: string, price: int }).rules({ read: ["everyone"] });

/**
 * The fields of billing's subscriptions that the shop uses, and the rules for its own callers. The shop stores none of
 * them, and undeclared fields, such as the card, never leave this process.
 */
export const subscription = entity("subscription", {
  status: enums("active", "cancelled"),
  renewsAt: datetime,
  note: string.optional().readable("admin"),
  plan: belongsTo(() => plan),
}).rules({ read: ["authenticated"] });
