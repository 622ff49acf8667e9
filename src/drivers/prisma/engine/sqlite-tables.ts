import type { SqlDriverAdapter, SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import { ConfigurationError, type EntityModel } from "../../../entity/index.ts";
import {
  adapterLike,
  type Catalog,
  columnsQuery,
  isManaged,
  runStatement,
  tableNames,
  toCatalog,
  whileBusy,
} from "../../sql/index.ts";
import { absent } from "./opening.ts";
import { ENGINE_PACKAGES } from "./schema-engine.ts";
import type { Tables } from "./sync-schema.ts";

/** What changing the tables of a SQLite file takes; see `loadPeers`. */
export const SQLITE_PACKAGES = {
  ...ENGINE_PACKAGES,
  "@prisma/adapter-libsql": () => import("@prisma/adapter-libsql").catch(absent),
} as const;

/**
 * A connection for changing the tables of a SQLite file. Changing a column means making the table anew, in several
 * statements; the engine sends them one by one and would leave half of them behind when one fails.
 * @param model what the entities describe: where tables of it were there before, all others in the file are left alone, too
 */
export function sqliteTables(factory: SqlDriverAdapterFactory, model: EntityModel): Tables {
  let alone: SqlDriverAdapter | undefined;
  const opened: SqlDriverAdapter[] = [];
  async function connect(): Promise<SqlDriverAdapter> {
    if (alone !== undefined) return kept(alone);
    const adapter = await factory.connect();
    opened.push(adapter);
    return kept(adapter);
  }
  async function catalog(): Promise<Catalog> {
    return toCatalog((await runStatement(await connect(), columnsQuery("sqlite", false))).rows);
  }
  return {
    factory: { provider: factory.provider, adapterName: factory.adapterName, connect, connectToShadowDb: connect },
    async foreign() {
      if (model.entities.every(isManaged)) return { tables: [], enums: [] };
      const ours = new Set(tableNames(model));
      return { tables: [...(await catalog()).keys()].filter((table) => !ours.has(table)), enums: [] };
    },
    catalog,
    run: async (statement) => void (await runStatement(await connect(), statement)),
    preparations: async () => [],
    async atomically(change, keep = true) {
      const adapter = await whileBusy(() => openAlone(factory));
      alone = adapter;
      try {
        const result = await change();
        if (keep) await commit(adapter);
        else await runStatement(adapter, "ROLLBACK");
        return result;
      } catch (error) {
        await runStatement(adapter, "ROLLBACK");
        throw error;
      } finally {
        alone = undefined;
        await adapter.dispose();
      }
    },
    async close() {
      for (const adapter of opened) await adapter.dispose();
    },
  };
}

/** A connection that keeps all others from writing until it is closed. */
async function openAlone(factory: SqlDriverAdapterFactory): Promise<SqlDriverAdapter> {
  const adapter = await factory.connect();
  try {
    // Cannot be switched inside a transaction, where the engine does it; with it on, dropping a table to make it anew
    // would delete what refers to its rows.
    await runStatement(adapter, "PRAGMA foreign_keys = OFF");
    await runStatement(adapter, "BEGIN IMMEDIATE");
    return adapter;
  } catch (error) {
    await adapter.dispose();
    throw error;
  }
}

async function commit(adapter: SqlDriverAdapter): Promise<void> {
  const { rows } = await runStatement(adapter, "PRAGMA foreign_key_check");
  if (rows.length > 0)
    throw new ConfigurationError(`${rows.length} rows would refer to records that do not exist; nothing was changed`);
  await runStatement(adapter, "COMMIT");
}

/** The same connection with a `dispose` that does nothing, because the schema engine would close it too early. */
function kept(adapter: SqlDriverAdapter): SqlDriverAdapter {
  const quote = jsonQuoter();
  return adapterLike(adapter, {
    // The engine queries the text of a partial index with the name in double quotes. Those are for columns; SQLite accepts
    // them for text only when it was built to.
    queryRaw: (query) =>
      adapter.queryRaw({ ...query, sql: quote(query.sql).replace(/ AND name = "([^"']*)";$/, " AND name = '$1';") }),
    executeRaw: (query) => adapter.executeRaw({ ...query, sql: quote(query.sql) }),
    executeScript: (script) => adapter.executeScript(quote(script)),
    dispose: async () => {},
  });
}

/**
 * The start of a table; a column that holds JSON, on a line of its own; a value for rows without one in such a column.
 */
const PARTS =
  /^CREATE TABLE |^(.*"(\w+)" JSONB(?: NOT NULL)?)(?: DEFAULT (?!')(.+?))?([,;]*)$|coalesce\("(\w+)", (?!')(.+?)\) AS "\5"/gm;

function quoted(json: string): string {
  return `'${json.replaceAll("'", "''")}'`;
}

/**
 * Puts quotes around the JSON of defaults, which the schema engine forgets on SQLite: it takes braces for a mistake, and
 * `true` for 1. JSON has no line ends outside of its escapes.
 * @returns A function for statements in the order in which they are run: the columns of a table come before its rows
 */
export function jsonQuoter(): (sql: string) => string {
  const columns = new Set<string>();
  return (sql) =>
    sql.replace(PARTS, (part, ...groups: (string | undefined)[]) => {
      const [start, column, json, end = "", filled, value] = groups;
      if (column !== undefined) {
        columns.add(column);
        return json === undefined ? part : `${start} DEFAULT ${quoted(json)}${end}`;
      }
      if (filled === undefined) columns.clear();
      else if (columns.has(filled)) return `coalesce("${filled}", ${quoted(value as string)}) AS "${filled}"`;
      return part;
    });
}
