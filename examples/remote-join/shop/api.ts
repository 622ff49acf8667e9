import { belongsTo, entity, httpService, type KeelsonConfig, keelson, memoryDriver, string } from "keelson";
import { createTokenSigner } from "keelson/jwt";
import { tokens } from "../tokens.ts";
import { subscription } from "./subscription.ts";

const customer = entity("customer", {
  name: string,
  subscription: belongsTo(() => subscription)
    .remote("billing")
    .optional(),
})
  .ownedBy("id")
  .rules({ read: ["ownerOrAdmin"] });

export interface ShopOptions extends Pick<KeelsonConfig, "logger" | "getUser"> {
  /** Address of billing's API. */
  readonly billing: string;
  /** The key that signs tokens of services. */
  readonly secret: string;
}

/** An API of customers, whose subscriptions are in the billing service. */
export function createShop({ billing, secret, ...options }: ShopOptions) {
  const sign = createTokenSigner({ ...tokens(secret), expiresIn: 60 });
  const headers = async () => ({ authorization: `Bearer ${await sign({ sub: "shop", role: "service" })}` });
  return keelson({
    entities: [customer],
    driver: memoryDriver({
      customer: [
        { id: "ann", name: "Ann", subscriptionId: "sub-1" },
        { id: "bob", name: "Bob", subscriptionId: "sub-2" },
        { id: "cid", name: "Cid" },
      ],
    }),
    services: { billing: () => httpService({ baseUrl: billing, headers }) },
    // Calls to billing pause for two seconds after three failures in a row.
    remoteJoins: { timeout: 2_000, breaker: { failures: 3, resetAfter: 2_000 } },
    ...options,
  });
}
