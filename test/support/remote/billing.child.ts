// A process with an app whose records other apps join: subscriptions s0 to s299 of the plans p0 and p1. Its parent controls
// its responses, and receives its requests.
import { serve } from "../../../src/adapters/node/index.ts";
import { keelson, memoryDriver, noopLogger } from "../../../src/index.ts";
import { plan, subscription } from "./billing-entities.ts";
import type { FromBilling, ToBilling } from "./billing-process.ts";

const tell = (message: FromBilling): void => void process.send?.(message);
let mood: ToBilling["mood"] = "answers";
let targets: string[] = [];

const api = keelson({
  entities: [plan, subscription],
  driver: memoryDriver({
    plan: [0, 1].map((i) => ({ id: `p${i}`, name: `Plan ${i}` })),
    subscription: Array.from({ length: 300 }, (_, i) => ({ id: `s${i}`, status: `state ${i}`, planId: `p${i % 2}` })),
  }),
  async getUser() {
    if (mood === "hangs") await new Promise(() => {});
    if (mood === "fails") throw new TypeError("Billing is in a bad mood");
    return null;
  },
  limits: { hookMs: 60_000 }, // it hangs longer than its callers wait
  logger: noopLogger,
});
const { url, server, close } = await serve(api, { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 });
server.prependListener("request", (request) => void targets.push(request.url ?? ""));

process.on("message", (message: ToBilling) => {
  mood = message.mood;
  tell({ targets });
  targets = [];
});
process.on("disconnect", () => void close().finally(() => process.exit()));
tell({ baseUrl: `${url}/api` });
