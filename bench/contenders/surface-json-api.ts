// The API with the example plugin for JSON:API, on node:http.
import { serve } from "keelson/node";
import { jsonApi } from "../../examples/plugins/json-api/src/index.ts";
import { createBenchApp } from "../keelson-app.ts";

const app = createBenchApp((defaults) => [...defaults.replace("crud", jsonApi())]);
await serve(app, { port: Number(process.env.PORT), hostname: "127.0.0.1" });
