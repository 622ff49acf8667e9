import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import { ConfigurationError, type EntityModel } from "../../../entity/index.ts";
import type { Driver } from "../../../gate/index.ts";
import {
  ALL_FAST,
  createDatabaseDriver,
  DIALECTS,
  type Fast,
  findMisfits,
  PrismaFailure,
  runStatement,
  sqlPath,
} from "../../sql/index.ts";
import { loadPeers, refuseWrongAddress } from "../engine/opening.ts";
import { checkSchema, ENGINE_VERSION, SCHEMA_PACKAGES, startSchemaEngine } from "../engine/schema-engine.ts";
import { SQLITE_PACKAGES, sqliteTables } from "../engine/sqlite-tables.ts";
import { pendingChanges, pushSchema, type SchemaTarget } from "../engine/sync-schema.ts";
import { managedSchema } from "../schema/to-prisma-schema.ts";
import { libsqlFactory, requireLibsql } from "./libsql-factory.ts";
import { openSqlite, type SqliteConnection, type SqliteFactory } from "./sqlite-adapter.ts";

/** Options of `embedded`. */
export interface EmbeddedOptions {
  /** The SQLite file, relative to the working directory; made with its folders when it does not exist. @default ".keelson/app.db" */
  readonly file?: string | undefined;
  /** "auto" changes the tables to fit the entities when the app starts outside production. @default "auto" */
  readonly push?: "auto" | "off" | undefined;
  /** Lets that change drop columns and tables with data. @default false */
  readonly acceptDataLoss?: boolean | undefined;
}

/**
 * A driver that needs no server and no set-up: a SQLite file, with tables made from the entities.
 * @throws ConfigurationError at once for a URL, which other drivers are for; from `connect` naming the packages that are not installed, or why the file cannot be opened
 * @example
 * const api = keelson({ entities: [user, post], driver: embedded({ file: "data/app.db" }) });
 */
export function embedded(options: EmbeddedOptions = {}): Driver {
  return openEmbedded(options, ALL_FAST);
}

/** The same, without some of the special cases for speed. */
export function openEmbedded(options: EmbeddedOptions, fast: Fast): Driver {
  const { file = ".keelson/app.db", push = "auto", acceptDataLoss = false } = options;
  if (file.startsWith(":memory:") || file === "")
    throw new ConfigurationError("embedded keeps its data in a file; memoryDriver() keeps it in memory");
  refuseWrongAddress("embedded({ file })", file, /^$/);
  const path = resolve(file);
  const url = pathToFileURL(path).href;

  const stamp = schemaStamp(path);
  const printed = new WeakMap<EntityModel, string>();
  let connection: SqlDriverAdapter | undefined;

  function schemaOf(model: EntityModel): string {
    const schema = printed.get(model) ?? managedSchema(model, "sqlite");
    printed.set(model, schema);
    return schema;
  }

  /** @throws ConfigurationError; the packages that are needed from now on are loaded meanwhile */
  async function refuseMisfits(model: EntityModel, production: boolean): Promise<void> {
    const packages = await loadPeers("embedded", { ...SQLITE_PACKAGES, ...SCHEMA_PACKAGES });
    // This is slow, so it starts in the background; code that needs the engine awaits it and gets its error.
    if (!production) void startSchemaEngine(packages).catch(() => undefined);
    checkSchema(packages["@prisma/get-dmmf"], schemaOf(model));
  }

  return createDatabaseDriver(
    {
      name: "embedded",
      capabilities: Object.freeze({ concurrentTransactions: false, durable: true }),
      schema: (current) => {
        async function target(): Promise<SchemaTarget> {
          const { model } = current();
          const packages = await loadPeers("embedded", SQLITE_PACKAGES);
          const { PrismaLibSql } = packages["@prisma/adapter-libsql"];
          return {
            packages,
            model,
            provider: "sqlite",
            schema: schemaOf(model),
            option: "embedded({ acceptDataLoss: true })",
            acceptDataLoss,
            openTables: async () => sqliteTables(new PrismaLibSql({ url }), model),
            onFit: async ({ factory }) => stamp.write(await schemaDigest(schemaOf(model), await factory.connect())),
          };
        }
        const digest = () => schemaDigest(schemaOf(current().model), connection as SqlDriverAdapter);
        return {
          mode: push,
          push: async () =>
            (await digest()) === (await stamp.read()) ? { changed: false } : pushSchema(await target()),
          misfits() {
            const fitting = { model: current().model, provider: "sqlite" } as const;
            return findMisfits(connection as SqlDriverAdapter, fitting, push === "auto");
          },
          async pending() {
            const before = await digest();
            if (before === (await stamp.read())) return [];
            const differences = await pendingChanges(await target());
            // The tables may have changed meanwhile.
            if (differences.length === 0 && before === (await digest())) await stamp.write(before);
            return differences;
          },
        };
      },
      async open({ model, production }) {
        const fitting = push === "auto" ? await stamp.read() : undefined;
        // A refused start leaves no file behind.
        if (push === "auto" && fitting === undefined) await refuseMisfits(model, production);
        // All that is needed where tables fit; by the name of the package that brings it.
        const library = { "@prisma/adapter-libsql": async () => requireLibsql() };
        const { "@prisma/adapter-libsql": Libsql } = await loadPeers("embedded", library);
        const adapter = await openFile(path, libsqlFactory(Libsql, path));
        try {
          if (fitting !== undefined && fitting !== (await schemaDigest(schemaOf(model), adapter)))
            await refuseMisfits(model, production);
        } catch (error) {
          await adapter.dispose();
          throw error;
        }
        connection = adapter;
        return { client: adapter, dialect: DIALECTS.sqlite, close: () => adapter.dispose() };
      },
    },
    sqlPath(fast),
  );
}

async function openFile(path: string, factory: SqliteFactory): Promise<SqlDriverAdapter> {
  try {
    await mkdir(dirname(path), { recursive: true });
    return await openSqlite(factory);
  } catch (error) {
    const cause = new PrismaFailure(error, { operation: "connect" });
    throw new ConfigurationError(`embedded cannot open the SQLite file ${path} (${cause.code})`, { cause });
  }
}

/** Incremented when this comparison changes. */
const FORM = 1;

/**
 * One hash of the tables and the schema. SQLite keeps the statements that created tables and indexes, so a manual
 * change or a replaced file changes the hash.
 */
async function schemaDigest(schema: string, connection: Pick<SqliteConnection, "queryRaw">): Promise<string> {
  const all = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name";
  const { rows } = await runStatement(connection, all);
  return createHash("sha256")
    .update(JSON.stringify([FORM, ENGINE_VERSION, schema, rows]))
    .digest("hex");
}

/**
 * The digest of tables and a schema that were found to fit, in a file of its own beside the database's: comparing every
 * table with its entity takes the schema engine, and so most of the time in which an app starts. Without a matching
 * file, the comparison is repeated.
 * @param file The SQLite file
 */
function schemaStamp(file: string) {
  const path = `${file}-schema`;
  return {
    read: (): Promise<string | undefined> => readFile(path, "utf8").catch(() => undefined),
    // A read-only folder only costs time.
    write: (digest: string): Promise<void> => writeFile(path, digest).catch(() => undefined),
  };
}
