import { serve } from "keelson/node";
import { createBilling } from "./api.ts";

// `BILLING_SECRET` and `PORT` say what tokens are signed with and where it listens. The process that started it is told where
// that is, and takes it along when it ends.
const api = createBilling({ secret: process.env.BILLING_SECRET ?? "" });
const { url, close } = await serve(api, { port: Number(process.env.PORT ?? 3003) });
process.once("disconnect", () => void close()); // the process ends with its server
if (process.send) process.send({ url });
else console.log(`Billing  ${url}/api`);
