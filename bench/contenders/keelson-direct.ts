// Keelson on node:http, its statements straight to the driver adapter.
import { postgres } from "keelson";
import { serve } from "keelson/node";
import { benchDatabaseUrl, poolSize } from "../database.ts";
import { createBenchApi } from "../keelson-api.ts";

const driver = postgres(benchDatabaseUrl(), { poolSize, push: "off" });
await serve(createBenchApi(driver), { port: Number(process.env.PORT), hostname: "127.0.0.1" });
