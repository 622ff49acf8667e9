// ZenStack 3 with its policy plugin on the tables of `bench/screens.ts`: its RPC routes on Hono.
import { ZenStackClient } from "@zenstackhq/orm";
import { PostgresDialect, type PostgresDialectConfig } from "@zenstackhq/orm/dialects/postgres";
import { sql } from "@zenstackhq/orm/helpers";
import { PolicyPlugin } from "@zenstackhq/plugin-policy";
import { RPCApiHandler } from "@zenstackhq/server/api";
import { createHonoHandler } from "@zenstackhq/server/hono";
import { Hono } from "hono";
import { Client, Pool } from "pg";
import { schema } from "./schema.ts";

/** The connections of this folder's `pg`, whose statements the benchmark counts. */
export { Client };

/** @param connectionString the database of the benchmark */
export function open(connectionString: string) {
  const pool = new Pool({ connectionString });
  const client = new ZenStackClient(schema, {
    // The types of pg leave out `options`, which the dialect asks for.
    dialect: new PostgresDialect({ pool: pool as unknown as PostgresDialectConfig["pool"] }),
    computedFields: {
      order: {
        month: () =>
          sql<string>`to_char(date_trunc('month', "placedAt" AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Berlin'), 'YYYY-MM-DD')`,
      },
    },
  }).$use(new PolicyPlugin());
  const app = new Hono();
  app.use("/api/model/*", createHonoHandler({ apiHandler: new RPCApiHandler({ schema }), getClient: () => client }));
  return { answer: (request: Request) => app.fetch(request), close: () => client.$disconnect() };
}
