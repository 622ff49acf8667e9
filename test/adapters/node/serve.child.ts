// A server that holds its responses back until its parent sends "go", and that may fail to close. Started by
// serve-signals.test.ts with the grace period in milliseconds and, for the failure, "broken".
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
  if (process.argv[3] === "broken") throw new RangeError("no way to close");
};
const { port } = await serve(stubApp(handle, { close }), {
  port: 0,
  hostname: "127.0.0.1",
  gracePeriod: Number(process.argv[2]),
});
process.on("message", () => go.resolve());
process.send?.({ port });
