import { belongsTo, datetime, entity, enums, int, string } from "keelson";

const plan = entity("plan", { name: string, price: int }).rules({ read: ["everyone"] });

/**
 * What the shop knows of billing's subscriptions, and who of its own callers may see what of them. It is part of no
 * database here, and fields that are not named, such as the card, never get any further than this process.
 */
export const subscription = entity("subscription", {
  status: enums("active", "cancelled"),
  renewsAt: datetime,
  note: string.optional().readable("admin"),
  plan: belongsTo(() => plan),
}).rules({ read: ["authenticated"] });
