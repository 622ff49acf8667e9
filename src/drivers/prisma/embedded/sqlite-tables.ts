import type { SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import { ConfigurationError } from "../../../entity/index.ts";
import { run } from "./sqlite-adapter.ts";
import type { Tables } from "./sync-schema.ts";

/** Milliseconds to wait for another process that is changing the same file. */
const BUSY_MS = 5_000;

/**
 * A connection for changing the tables of a SQLite file. Changing a column means making the table anew, in several
 * statements; the engine sends them one by one and would leave half of them behind when one fails.
 */
export async function sqliteTables(factory: SqlDriverAdapterFactory): Promise<Tables> {
  const adapter = await factory.connect();
  const shared = { ...bound(adapter), dispose: async () => {} };
  return {
    factory: {
      provider: factory.provider,
      adapterName: factory.adapterName,
      connect: async () => shared,
      connectToShadowDb: async () => shared,
    },
    foreign: { tables: [], enums: [] },
    async atomically(change) {
      await run(adapter, `PRAGMA busy_timeout = ${BUSY_MS}`);
      // Cannot be switched inside a transaction, where the engine does it; with it on, dropping a table to make it anew
      // would delete what refers to its rows.
      await run(adapter, "PRAGMA foreign_keys = OFF");
      await run(adapter, "BEGIN IMMEDIATE");
      try {
        const result = await change();
        const { rows } = await run(adapter, "PRAGMA foreign_key_check");
        if (rows.length > 0)
          throw new ConfigurationError(
            `${rows.length} rows would refer to records that do not exist; nothing was changed`,
          );
        await run(adapter, "COMMIT");
        return result;
      } catch (error) {
        await run(adapter, "ROLLBACK");
        throw error;
      }
    },
    close: () => adapter.dispose(),
  };
}

/** Methods that can be called without their adapter. */
function bound(adapter: Awaited<ReturnType<SqlDriverAdapterFactory["connect"]>>): typeof adapter {
  return {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    queryRaw: (query) => adapter.queryRaw(query),
    executeRaw: (query) => adapter.executeRaw(query),
    executeScript: (script) => adapter.executeScript(script),
    startTransaction: (isolation) => adapter.startTransaction(isolation),
    dispose: () => adapter.dispose(),
  };
}
