// The API with the example plugin for MCP, on node:http.
import { serve } from "keelson/node";
import { mcp } from "../../examples/plugins/mcp/src/index.ts";
import { createBenchApp } from "../keelson-app.ts";

const app = createBenchApp((defaults) => [...defaults, mcp({ writes: true })]);
await serve(app, { port: Number(process.env.PORT), hostname: "127.0.0.1" });
