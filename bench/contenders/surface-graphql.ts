// The API with the example plugin for GraphQL, on node:http.
import { serve } from "keelson/node";
import { graphql } from "../../examples/plugins/graphql/src/index.ts";
import { createBenchApp } from "../keelson-app.ts";

const app = createBenchApp((defaults) => [...defaults, graphql()]);
await serve(app, { port: Number(process.env.PORT), hostname: "127.0.0.1" });
