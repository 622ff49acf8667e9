import {
  belongsTo,
  datetime,
  defineRule,
  entity,
  enums,
  int,
  type KeelsonConfig,
  keelson,
  memoryDriver,
  string,
} from "keelson";
import { jwtAuth } from "keelson/jwt";
import { tokens } from "../tokens.ts";

/** Passes for other internal services, never for people. */
const service = defineRule("service", ({ user }) => user?.role === "service");

const plan = entity("plan", {
  name: string,
  price: int.min(0).describe("Cents per month"),
}).rules({ read: [service] });

const subscription = entity("subscription", {
  status: enums("active", "cancelled"),
  renewsAt: datetime,
  note: string.optional(),
  card: string,
  plan: belongsTo(() => plan),
}).rules({ read: [service] });

export interface BillingOptions extends Pick<KeelsonConfig, "logger"> {
  /** The key that signs tokens of services. */
  readonly secret: string;
}

/** An API of subscriptions, for other services. */
export function createBilling({ secret, ...options }: BillingOptions) {
  const renewsAt = new Date("2030-01-01T00:00:00Z");
  return keelson({
    entities: [plan, subscription],
    driver: memoryDriver({
      plan: [{ id: "pro", name: "Pro", price: 1900 }],
      subscription: [
        { id: "sub-1", status: "active", renewsAt, note: "Asked for a discount", card: "4242 4242", planId: "pro" },
        { id: "sub-2", status: "cancelled", renewsAt, card: "1881", planId: "pro" },
      ],
    }),
    plugins: [jwtAuth(tokens(secret))],
    ...options,
  });
}
