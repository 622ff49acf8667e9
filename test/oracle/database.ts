/** The databases of scenarios: created once, emptied between scenarios, and read directly. */
import { createClient } from "@libsql/client";
import type { Driver, Keelson } from "keelson";
import pg from "pg";
import { freshPostgres, freshSqliteFile } from "../support/databases.ts";
import { wordsIn } from "./evaluate/search.ts";
import { library } from "./library.ts";
import {
  computation,
  type Data,
  type EntityModel,
  entityOf,
  keyOf,
  keysOf,
  type Meanwhile,
  type Model,
  pairsOf,
  type Row,
  withoutComputed,
} from "./model.ts";

export type DatabaseName = "memory" | "sqlite" | "postgres";

/** The database of one app. */
export interface Database {
  readonly name: DatabaseName;
  readonly driver: Driver;
  /** Lets the database compute the values of computed fields, once the app has created the tables. */
  compute?(): Promise<void>;
  /** Removes all rows. */
  empty(): Promise<void>;
  /** Everything stored, in its stored form. */
  read(api: Keelson): Promise<Data>;
  /** Applies changes directly, all at once. */
  change(api: Keelson, changes: readonly Meanwhile[]): Promise<void>;
  /** Locks a row while `work` waits for it, makes the changes, and releases the lock. False if `work` did not wait. */
  readonly whileLocked?: (
    at: string,
    id: string,
    work: Promise<unknown>,
    start: () => void,
    changes: readonly Meanwhile[],
  ) => Promise<boolean>;
  close(): Promise<void>;
}

/** Replaces the columns of computed fields by columns that the database computes. */
const computedColumns = ({ entities }: Model, storage: "stored" | "virtual"): string[] =>
  entities.flatMap(({ name: table, fields }) =>
    fields.flatMap(({ name, computedFrom }) =>
      computedFrom === undefined
        ? []
        : [
            `alter table ${quoted(table)} drop column ${quoted(name)}`,
            `alter table ${quoted(table)} add column ${quoted(name)} text generated always as (${computation(computedFrom)}) ${storage}`,
          ],
    ),
  );

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
/** All relations that store pairs, with the join table that the library creates for each. */
function pairTables(model: Model): { at: string; table: string; isReversed: boolean }[] {
  return model.entities.flatMap((entity) =>
    entity.relations
      .filter((one) => one.kind === "manyToMany")
      .map((relation) => ({ relation, ...pairsOf(model, entity, relation) }))
      .filter(({ flipped, at, relation }) => !flipped && at === `${entity.name}.${relation.name}`)
      .map(({ relation, at }) => {
        const own = `${entity.name}_${relation.name}`;
        const other = relation.inverse === undefined ? own : `${relation.target}_${relation.inverse}`;
        const table = `_${other < own ? other : own}`;
        // Prisma's columns A and B follow the order of the entities' names.
        return { at, table, isReversed: relation.target < entity.name };
      }),
  );
}

async function readByDriver(model: Model, _api: Keelson, driver: Driver): Promise<Data> {
  const rows: Record<string, Row[]> = {};
  const pairs: Record<string, string[]> = {};
  for (const { name } of model.entities) rows[name] = (await driver.findMany(name)) as Row[];
  for (const entity of model.entities)
    for (const relation of entity.relations) {
      if (relation.kind !== "manyToMany" || pairsOf(model, entity, relation).flipped) continue;
      const ids = (rows[entity.name] ?? []).map(({ id }) => id as string);
      const links = ids.length === 0 ? [] : await driver.links(entity.name, relation.name, ids);
      pairs[`${entity.name}.${relation.name}`] = links.map(({ source, target }) => `${source}|${target}`);
    }
  return { rows, pairs };
}

/** Values with their search words, as the library would have stored them. */
function withWords(model: Model, entity: string, values: Row): Row {
  const words = entityOf(model, entity).fields.flatMap(({ name, searched }) =>
    searched === undefined || values[name] === undefined
      ? []
      : [[`${name}Words`, values[name] === null ? null : ` ${wordsIn(String(values[name])).join(" ")} `] as const],
  );
  return { ...values, ...Object.fromEntries(words) };
}

async function changeByDriver(model: Model, driver: Driver, changes: readonly Meanwhile[]): Promise<void> {
  for (const one of changes) {
    if ("set" in one) await driver.update(one.set, { id: one.id }, withWords(model, one.set, one.to));
    else if ("remove" in one) await driver.delete(one.remove, { id: one.id });
    else {
      const [entity = "", relation = ""] = one.unpair.split(".");
      const [source = "", target = ""] = one.pair.split("|");
      await driver.unlink(entity, relation, source, [target]);
    }
  }
}

/** A driver that can be replaced while the app runs, which is the fastest way to empty it. */
function openMemory(model: Model): Database {
  let current = library.memoryDriver();
  let context: Parameters<Driver["connect"]>[0] | undefined;
  const driver = new Proxy({} as Driver, {
    get(_, name) {
      if (name === "connect")
        return (given: Parameters<Driver["connect"]>[0]) => {
          context = given;
          return current.connect(given);
        };
      // Read once and kept longer than the driver it came from.
      if (name === "execute")
        return (statement: unknown) => Reflect.apply(Reflect.get(current, name), current, [statement]);
      const value = Reflect.get(current, name) as unknown;
      return typeof value === "function" ? value.bind(current) : value;
    },
    has: (_, name) => Reflect.has(current, name),
  });
  return {
    name: "memory",
    driver,
    async empty() {
      current = library.memoryDriver();
      if (context !== undefined) await current.connect(context);
    },
    read: (api) => readByDriver(model, api, current),
    change: (_, changes) => changeByDriver(model, current, changes),
    close: async () => {},
  };
}

const tablesOf = (model: Model): string[] => [
  ...pairTables(model).map(({ table }) => table),
  ...model.entities.map(({ name }) => name),
];

async function openSqlite(model: Model): Promise<Database> {
  const { file, remove } = await freshSqliteFile();
  const client = createClient({ url: `file:${file}` });
  const driver = library.embedded({ file });
  return {
    name: "sqlite",
    driver,
    async compute() {
      await client.executeMultiple(computedColumns(model, "virtual").join(";"));
    },
    async empty() {
      await client.executeMultiple(
        `PRAGMA foreign_keys = OFF;${tablesOf(model)
          .map((name) => `DELETE FROM ${quoted(name)};`)
          .join("")}`,
      );
    },
    read: (api) => readByDriver(model, api, api.driver),
    change: (api, changes) => changeByDriver(model, api.driver, changes),
    async close() {
      client.close();
      await remove();
    },
  };
}

/** One direct connection, with the statements that a scenario needs. */
async function openPostgres(model: Model, url: string): Promise<Database> {
  const [client, holder] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await Promise.all([client.connect(), holder.connect()]);
  await client.query("SET session_replication_role = replica");
  const parts = [
    ...model.entities.map(({ name }) => `'${name}', (select coalesce(json_agg(t), '[]') from ${quoted(name)} t)`),
    ...pairTables(model).map(
      ({ at, table, isReversed }) =>
        `'${at}', (select coalesce(json_agg(${isReversed ? `"B" || '|' || "A"` : `"A" || '|' || "B"`}), '[]') from ${quoted(table)})`,
    ),
  ];
  const everything = `select json_build_object(${parts.join(", ")}) as all`;
  const apply = async (on: pg.Client, changes: readonly Meanwhile[]): Promise<void> => {
    for (const one of changes)
      if ("set" in one) {
        const entries = Object.entries(withWords(model, one.set, one.to));
        const set = entries.map(([name], at) => `${quoted(name)} = $${at + 2}`).join(", ");
        await on.query(`update ${quoted(one.set)} set ${set} where id = $1`, [one.id, ...entries.map(([, to]) => to)]);
      } else if ("remove" in one) await on.query(`delete from ${quoted(one.remove)} where id = $1`, [one.id]);
      else {
        const found = pairTables(model).find(({ at }) => at === one.unpair);
        const [a, b] = one.pair.split("|");
        const [first, second] = found?.isReversed ? [b, a] : [a, b];
        await on.query(`delete from ${quoted(found?.table ?? "")} where "A" = $1 and "B" = $2`, [first, second]);
      }
  };
  return {
    name: "postgres",
    driver: library.postgres(url),
    async compute() {
      await client.query(computedColumns(model, "stored").join(";"));
    },
    async empty() {
      await client.query(
        tablesOf(model)
          .map((name) => `delete from ${quoted(name)}`)
          .join(";"),
      );
    },
    async read() {
      const { rows } = await client.query<{ all: Record<string, unknown[]> }>(everything);
      const all = rows[0]?.all ?? {};
      const named = Object.entries(all);
      return {
        rows: Object.fromEntries(named.filter(([name]) => !name.includes("."))) as unknown as Record<string, Row[]>,
        pairs: Object.fromEntries(named.filter(([name]) => name.includes("."))) as unknown as Record<string, string[]>,
      };
    },
    change: (_, changes) => apply(client, changes),
    async whileLocked(at, id, work, start, changes) {
      await holder.query("begin");
      await holder.query(`select id from ${quoted(at)} where id = $1 for update`, [id]);
      let isOver = false;
      const over = work.finally(() => {
        isOver = true;
      });
      over.catch(() => undefined);
      start();
      let waits = false;
      while (!waits && !isOver) {
        const { rows } = await client.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1",
        );
        waits = rows.length > 0;
      }
      const areMade = await apply(holder, changes).then(
        () => true,
        // Each waits for a row of the other: then the write goes first.
        async (error: { readonly code?: string }) => {
          if (error.code !== "40P01") throw error;
          await holder.query("rollback");
          return false;
        },
      );
      if (areMade) await holder.query("commit");
      await over.catch(() => undefined);
      if (!areMade) await apply(client, changes);
      return waits && areMade;
    },
    async close() {
      await Promise.all([client.end(), holder.end()]);
    },
  };
}

/** Opens databases for models, one after the other. */
export interface Databases {
  open(model: Model): Promise<Database>;
  close(): Promise<void>;
}

export async function openDatabases(name: DatabaseName): Promise<Databases> {
  if (name === "memory") return { open: async (model) => openMemory(model), close: async () => {} };
  if (name === "sqlite") return { open: openSqlite, close: async () => {} };
  const { url, drop } = await freshPostgres();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const database = quoted(new URL(url).pathname.slice(1));
  await client.query(`alter database ${database} set deadlock_timeout = '100ms'`);
  return {
    async open(model) {
      await client.query("drop schema public cascade; create schema public");
      return openPostgres(model, url);
    },
    async close() {
      await client.end();
      await drop();
    },
  };
}

/** Rows in an order in which referenced rows come first, and keys that are set after all rows are stored. */
export function inOrder(
  model: Model,
  data: Data,
): { entity: EntityModel; rows: Record<string, unknown>[]; later: [string, Record<string, unknown>][] }[] {
  const known = new Set<string>();
  return model.entities.map((entity) => {
    const later: [string, Record<string, unknown>][] = [];
    const rows = (data.rows[entity.name] ?? []).map((row) => {
      const ahead = keysOf(entity).filter(
        (one) => row[keyOf(one)] != null && !known.has(`${one.target} ${row[keyOf(one)]}`),
      );
      if (ahead.length > 0)
        later.push([row.id as string, Object.fromEntries(ahead.map((one) => [keyOf(one), row[keyOf(one)]]))]);
      return { ...withoutComputed(entity, row), ...Object.fromEntries(ahead.map((one) => [keyOf(one), null])) };
    });
    for (const row of rows) known.add(`${entity.name} ${String((row as Row).id)}`);
    return { entity, rows, later };
  });
}
