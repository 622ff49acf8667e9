import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { SqlDriverAdapter, SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import { ConfigurationError } from "../../../entity/index.ts";
import type { Driver } from "../../../kernel/index.ts";
import { createPrismaDriver } from "../create-prisma-driver.ts";
import { DIALECTS } from "../dialect.ts";
import { PrismaFailure } from "../prisma-failure.ts";
import { toPrismaSchema } from "../schema/to-prisma-schema.ts";
import { SQL_PATH } from "../sql/sql-path.ts";
import { checkSchema, SCHEMA_PACKAGES } from "./check-schema.ts";
import { loadPeers } from "./load-peers.ts";
import { ENGINE_PACKAGES, startSchemaEngine } from "./schema-engine.ts";
import { openSqlite } from "./sqlite-adapter.ts";
import { sqliteTables } from "./sqlite-tables.ts";
import { pendingChanges, pushSchema, type SchemaTarget } from "./sync-schema.ts";

/** Options of `embedded`. */
export interface EmbeddedOptions {
  /** The SQLite file, relative to the working directory; made with its folders when it does not exist. @default ".keelson/app.db" */
  readonly file?: string | undefined;
  /** "auto" changes the tables to fit the entities when the app starts outside production. @default "auto" */
  readonly push?: "auto" | "off" | undefined;
  /** Lets that change drop columns and tables with data. @default false */
  readonly acceptDataLoss?: boolean | undefined;
}

const PACKAGES = {
  ...ENGINE_PACKAGES,
  "@prisma/adapter-libsql": () => import("@prisma/adapter-libsql"),
} as const;

/**
 * A driver that needs no server and no set-up: a SQLite file, with tables made from the entities.
 * @throws ConfigurationError from `connect` naming the packages that are not installed, or why the file cannot be opened
 * @example
 * const api = keelson({ entities: [user, post], driver: embedded({ file: "data/app.db" }) });
 */
export function embedded(options: EmbeddedOptions = {}): Driver {
  const { file = ".keelson/app.db", push = "auto", acceptDataLoss = false } = options;
  if (file.startsWith(":memory:") || file === "")
    throw new ConfigurationError("embedded keeps its data in a file; memoryDriver() keeps it in memory");
  const path = resolve(file);
  const url = pathToFileURL(path).href;

  return createPrismaDriver(
    {
      name: "embedded",
      capabilities: Object.freeze({ concurrentTransactions: false, durable: true }),
      schema: (current) => {
        async function target(): Promise<SchemaTarget> {
          const { model } = current();
          const packages = await loadPeers("embedded", PACKAGES);
          const { PrismaLibSql } = packages["@prisma/adapter-libsql"];
          return {
            packages,
            model,
            provider: "sqlite",
            schema: toPrismaSchema(model, { provider: "sqlite" }),
            option: "embedded({ acceptDataLoss: true })",
            acceptDataLoss,
            openTables: async () => sqliteTables(new PrismaLibSql({ url })),
          };
        }
        return {
          mode: push,
          push: async () => pushSchema(await target()),
          pending: async () => pendingChanges(await target()),
        };
      },
      async open({ model, production }) {
        const packages = await loadPeers("embedded", PACKAGES);
        // Takes long, and runs beside the rest; whoever needs it waits for it, and hears of failures.
        if (push === "auto" && !production) void startSchemaEngine(packages).catch(() => undefined);
        const { PrismaLibSql } = packages["@prisma/adapter-libsql"];
        if (push === "auto") {
          const parser = await loadPeers("embedded", SCHEMA_PACKAGES);
          checkSchema(parser["@prisma/get-dmmf"], toPrismaSchema(model, { provider: "sqlite" }));
        }
        const adapter = await openFile(path, new PrismaLibSql({ url }));
        return { client: adapter, dialect: DIALECTS.sqlite, close: () => adapter.dispose() };
      },
    },
    SQL_PATH,
  );
}

async function openFile(path: string, factory: SqlDriverAdapterFactory): Promise<SqlDriverAdapter> {
  try {
    await mkdir(dirname(path), { recursive: true });
    return await openSqlite(factory);
  } catch (error) {
    const cause = new PrismaFailure(error, { operation: "connect" });
    throw new ConfigurationError(`embedded cannot open the SQLite file ${path} (${cause.code})`, { cause });
  }
}
