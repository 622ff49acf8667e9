// A process with the order app that kills itself during requests that ask for it: within the transaction, with
// `x-die: before-commit`, or when the response is ready and nothing was sent, with `x-die: before-answer`.

import { createPlugin, embedded, postgres } from "keelson";
import type { KernelRequest } from "../../../src/kernel/index.ts";
import { orderApp } from "./order-app.ts";

const database = process.argv[2] as string;

async function dieIf(request: KernelRequest | undefined, where: string): Promise<void> {
  if (request?.headers["x-die"] !== where) return;
  process.kill(process.pid, "SIGKILL");
  await new Promise(() => {});
}

const dying = createPlugin({
  id: "dying",
  hooks: {
    "operation:join": ({ scope, kind }) =>
      kind === "create" && scope.isTransaction ? dieIf(scope.exchange?.request, "before-commit") : undefined,
    "request:end": ({ request }) => dieIf(request, "before-answer"),
  },
});

const { url } = await orderApp({
  driver: database.startsWith("postgres:")
    ? postgres(database, { push: "off" })
    : embedded({ file: database, push: "off" }),
  keys: { leaseMs: 1_500 },
  plugins: [dying],
});
process.stdout.write(`${url.replace("127.0.0.1", "localhost")}/\n`);
