// Keelson on node:http.
import { serve } from "keelson/node";
import { createBenchApp } from "../keelson-app.ts";

await serve(createBenchApp(), { port: Number(process.env.PORT), hostname: "127.0.0.1" });
