import { serve } from "keelson/node";
import { createBilling } from "./api.ts";

// `BILLING_SECRET` signs tokens, `PORT` sets the port. This process reports its address to the parent process, and ends
// with it.
const api = createBilling({ secret: process.env.BILLING_SECRET ?? "" });
const { url, close } = await serve(api, { port: Number(process.env.PORT ?? 3003) });
process.once("disconnect", () => void close()); // closing the server ends the process
if (process.send) process.send({ url });
else console.log(`Billing  ${url}/api`);
