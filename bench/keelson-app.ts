import { type Keelson, postgres } from "keelson";
import { benchDatabaseUrl, poolSize } from "./database.ts";
import { createBenchApi } from "./keelson-api.ts";

/** The API on the benchmark's database, its statements straight to the driver adapter. */
export function createBenchApp(plugins?: Parameters<typeof createBenchApi>[1]): Keelson {
  return createBenchApi(postgres(benchDatabaseUrl(), { poolSize, push: "off" }), plugins);
}
