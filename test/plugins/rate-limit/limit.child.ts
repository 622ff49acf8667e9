// A process with two apps, each shared by several processes: one counts in Redis under a prefix, the other in a database.
import { createClient } from "redis";
import { serve } from "../../../src/adapters/node/index.ts";
import { entity, keelson, memoryDriver, postgres, string } from "../../../src/index.ts";
import {
  databaseRateStore,
  type RateLimitStore,
  rateLimit,
  redisRateStore,
} from "../../../src/plugins/rate-limit/index.ts";

const [prefix = "", database = ""] = process.argv.slice(2);
const film = entity("film", { title: string }).rules({ read: ["everyone"] });

async function start(driver: ReturnType<typeof memoryDriver>, store: RateLimitStore): Promise<number> {
  const limits = rateLimit({ policies: [{ name: "shared", limit: 40, window: 60 }], store, storeTimeoutMs: 10_000 });
  const api = keelson({ entities: [film], driver, plugins: [limits] });
  return (await serve(api, { port: 0, hostname: "127.0.0.1", signals: false })).port;
}

const redis = await createClient({ url: "redis://127.0.0.1:6379" }).connect();
const inRedis = await start(memoryDriver(), redisRateStore(redis, { prefix }));
const inDatabase = await start(postgres(database), databaseRateStore());
process.stdout.write(`http://localhost:${inRedis}/${inDatabase}/\n`);
