// Payload 3 without Next, on @hono/node-server as the documentation of `handleEndpoints` has it.
import { serve } from "@hono/node-server";
import { getPayload, handleEndpoints } from "payload";
import { payloadConfig } from "./payload-config.ts";

// Connected before the first request.
await getPayload({ config: payloadConfig });
serve({
  // A copy, as there: Payload adds to the request, and that of the server cannot be added to.
  fetch: (request) => handleEndpoints({ config: payloadConfig, request: request.clone() }),
  port: Number(process.env.PORT),
  hostname: "127.0.0.1",
});
