// ZenStack 3 with its policy plugin: its RPC routes on Hono.
import { serve } from "@hono/node-server";
import { ZenStackClient } from "@zenstackhq/orm";
import { PostgresDialect, type PostgresDialectConfig } from "@zenstackhq/orm/dialects/postgres";
import { PolicyPlugin } from "@zenstackhq/plugin-policy";
import { RPCApiHandler } from "@zenstackhq/server/api";
import { createHonoHandler } from "@zenstackhq/server/hono";
import { Hono } from "hono";
import { Pool } from "pg";
import { benchDatabaseUrl, poolSize } from "../../database.ts";
import { callers } from "../../seed.ts";
import { schema } from "./schema.ts";

// The types of pg leave out `options`, which the dialect asks for.
const pool = new Pool({ connectionString: benchDatabaseUrl(), max: poolSize });
const everybody = new ZenStackClient(schema, {
  dialect: new PostgresDialect({ pool: pool as unknown as PostgresDialectConfig["pool"] }),
}).$use(new PolicyPlugin());

const app = new Hono();
app.use(
  "/api/model/*",
  createHonoHandler({
    apiHandler: new RPCApiHandler({ schema }),
    getClient(c) {
      const header = c.req.header("authorization");
      return everybody.$setAuth(header?.startsWith("Bearer ") ? callers.get(header.slice(7)) : undefined);
    },
  }),
);
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
