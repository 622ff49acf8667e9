// The API in memory, on node:http.
import { serve } from "keelson/node";
import { createMemoryApp } from "../memory-app.ts";

await serve(await createMemoryApp(), { port: Number(process.env.PORT), hostname: "127.0.0.1" });
