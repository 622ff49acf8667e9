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
  /**
   * The SQLite file, relative to the working directory. It is created with its folders if missing. @default
   * ".keelson/app.db"
   */
  readonly file?: string | undefined;
  /** "auto" changes the tables to match the entities when the app starts outside production. @default "auto" */
  readonly push?: "auto" | "off" | undefined;
  /** Whether `push` may drop columns and tables with data. @default false */
  readonly acceptDataLoss?: boolean | undefined;
}

/**
 * A driver that needs no server and no set-up: a SQLite file, with tables created from the entities.
 * @throws ConfigurationError immediately for a URL of another driver; from `connect` naming the packages that are not
 *   installed, or the reason why the file cannot be opened
 * @example
 * const api = keelson({ entities: [user, post], driver: embedded({ file: "data/app.db" }) });
 */
export function embedded(options: EmbeddedOptions = {}): Driver {
  return openEmbedded(options, ALL_FAST);
}

/** Like `embedded`, with some of the optimizations switched off. */
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

  /** Checks the schema and loads the packages that are needed later. @throws ConfigurationError */
  async function refuseMisfits(model: EntityModel, production: boolean): Promise<void> {
    const packages = await loadPeers("embedded", { ...SQLITE_PACKAGES, ...SCHEMA_PACKAGES });
    // Loading is slow, so it starts in the background; code that needs the engine awaits it and gets its error.
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
            // The tables may have changed in the meantime.
            if (differences.length === 0 && before === (await digest())) await stamp.write(before);
            return differences;
          },
        };
      },
      async open({ model, production }) {
        const fitting = push === "auto" ? await stamp.read() : undefined;
        // Checked first, so that a refused start leaves no file behind.
        if (push === "auto" && fitting === undefined) await refuseMisfits(model, production);
        // The only package needed when the tables match, under the name of the package to install.
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
 * A hash of the tables and the schema. SQLite stores the statements that created tables and indexes, so a manual change
 * or a replaced file changes the hash.
 */
async function schemaDigest(schema: string, connection: Pick<SqliteConnection, "queryRaw">): Promise<string> {
  const all = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name";
  const { rows } = await runStatement(connection, all);
  return createHash("sha256")
    .update(JSON.stringify([FORM, ENGINE_VERSION, schema, rows]))
    .digest("hex");
}

/**
 * Stores the digest of matching tables and schema in a file next to the database: comparing every table with its entity
 * needs the schema engine, which takes most of an app's start. Without a matching file, the comparison is repeated.
 * @param file the SQLite file
 */
function schemaStamp(file: string) {
  const path = `${file}-schema`;
  return {
    read: (): Promise<string | undefined> => readFile(path, "utf8").catch(() => undefined),
    // In a read-only folder, the comparison is repeated at each start.
    write: (digest: string): Promise<void> => writeFile(path, digest).catch(() => undefined),
  };
}
