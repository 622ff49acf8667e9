import type { SqlDriverAdapter, SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import { ConfigurationError, type EntityModel } from "../../../entity/index.ts";
import {
  adapterLike,
  type Catalog,
  columnsQuery,
  isManaged,
  linkRelations,
  linkTable,
  runStatement,
  tableNames,
  toCatalog,
  whileBusy,
} from "../../sql/index.ts";
import { absent } from "./opening.ts";
import { ENGINE_PACKAGES } from "./schema-engine.ts";
import type { Tables } from "./sync-schema.ts";

/** The packages for changing the tables of a SQLite file; see `loadPeers`. */
export const SQLITE_PACKAGES = {
  ...ENGINE_PACKAGES,
  "@prisma/adapter-libsql": () => import("@prisma/adapter-libsql").catch(absent),
} as const;

/**
 * A connection for changing the tables of a SQLite file. Changing a column means recreating the table, in several
 * statements; the engine sends them one by one and would leave half of them applied if one fails.
 * @param model the model of the entities; if it has existing tables, or existing tables of pairs, all other tables in
 *   the file are left unchanged, too
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
      const isOwn = model.entities.every(isManaged) && linkRelations(model).every((one) => !linkTable(one).existing);
      if (isOwn) return { tables: [], enums: [] };
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

/** Opens a connection that blocks all other writers until it is closed. */
async function openAlone(factory: SqlDriverAdapterFactory): Promise<SqlDriverAdapter> {
  const adapter = await factory.connect();
  try {
    // Set here because the engine sets it inside a transaction, where it has no effect. If it were on, recreating a
    // table would delete the rows that refer to it.
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

/** Wraps a connection with a `dispose` that does nothing, because the schema engine would close it too early. */
function kept(adapter: SqlDriverAdapter): SqlDriverAdapter {
  const quote = jsonQuoter();
  return adapterLike(adapter, {
    // The engine queries the SQL of a partial index with the name in double quotes, which are for identifiers; SQLite
    // accepts them for texts only if it was built to.
    queryRaw: (query) =>
      adapter.queryRaw({ ...query, sql: quote(query.sql).replace(/ AND name = "([^"']*)";$/, " AND name = '$1';") }),
    executeRaw: (query) => adapter.executeRaw({ ...query, sql: quote(query.sql) }),
    executeScript: (script) => adapter.executeScript(quote(script)),
    dispose: async () => {},
  });
}

/** Matches the start of a table; a JSON column, on its own line; a value for rows without one in such a column. */
const PARTS =
  /^CREATE TABLE |^(.*"(\w+)" JSONB(?: NOT NULL)?)(?: DEFAULT (?!')(.+?))?([,;]*)$|coalesce\("(\w+)", (?!')(.+?)\) AS "\5"/gm;

function quoted(json: string): string {
  return `'${json.replaceAll("'", "''")}'`;
}

/**
 * Quotes JSON in defaults, which the schema engine does not do for SQLite: braces would be a syntax error, and `true`
 * would become 1. JSON contains line breaks only as escapes.
 * @returns a function for statements in execution order: the columns of a table come before its rows
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
