// A server that holds its answers back until its parent says "go". Started by serve-signals.test.ts.
import { serve } from "../../../src/adapters/node/index.ts";
import { deferred } from "../../support/deferred.ts";
import { reply, stubApp } from "../stub-app.ts";

const go = deferred<void>();
let waiting = 0;
const handle = async () => {
  process.send?.({ waiting: ++waiting });
  await go.promise;
  return reply("done");
};
const close = async () => {
  process.send?.({ closed: true });
};
const { port } = await serve(stubApp(handle, { close }), {
  port: 0,
  hostname: "127.0.0.1",
  gracePeriod: Number(process.argv[2]),
});
process.on("message", () => go.resolve());
process.send?.({ port });
