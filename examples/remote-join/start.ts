import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { serve } from "keelson/node";
import { createShop } from "./shop/api.ts";

// `npm run example:remote-join`, then the lines it prints. `PORT` and `BILLING_PORT` are the ports of the processes.
const secret = randomBytes(32).toString("base64url");
const billing = fork(fileURLToPath(new URL("billing/start.ts", import.meta.url)), {
  env: { ...process.env, BILLING_SECRET: secret, PORT: process.env.BILLING_PORT ?? "3003" },
});
const [told] = await Promise.race([once(billing, "message"), once(billing, "exit")]);
if (typeof told !== "object" || told === null) process.exit(1); // the child has reported the reason
const { url: billingUrl } = told as { url: string };

const shop = createShop({
  billing: `${billingUrl}/api`,
  secret,
  // A demo trusts every header; see the guides for real authentication.
  getUser: ({ headers }) => {
    const id = headers.get("authorization")?.match(/^Bearer (\w+)$/)?.[1];
    return id === undefined ? null : { id, role: id === "root" ? "admin" : "customer" };
  },
});
const { url } = await serve(shop, { port: Number(process.env.PORT ?? 3002) });
console.log(`Shop     ${url}/api
Billing  ${billingUrl}/api, process ${billing.pid}

Ann with her subscription and its plan, which are billing's; then everybody, for an admin, who also sees the note:
  curl -i '${url}/api/customers/ann?include=subscription.plan' -H 'Authorization: Bearer ann'
  curl -i '${url}/api/customers?include=subscription' -H 'Authorization: Bearer root'
Billing dies. Ask again: 200 as before, the subscription is null, and X-Remote-Errors says why:
  kill -9 ${billing.pid}
Billing comes back. Ask again, two seconds after the last answer without it at most:
  PORT=${new URL(billingUrl).port} BILLING_SECRET=${secret} npx tsx examples/remote-join/billing/start.ts
Ctrl-C ends both.`);
