/** The contents of the database in a simple form: maps of rows, sets of pairs. */
import type { Data, EntityModel, Model, Row } from "../model.ts";
import { keyOf, keysOf } from "../model.ts";

export interface World {
  readonly rows: ReadonlyMap<string, ReadonlyMap<string, Row>>;
  /** By `entity.relation` of the first side, as `source|target`. */
  readonly pairs: ReadonlyMap<string, ReadonlySet<string>>;
}

export function worldOf(model: Model, data: Data): World {
  return {
    rows: new Map(
      model.entities.map(({ name }) => [name, new Map((data.rows[name] ?? []).map((row) => [row.id as string, row]))]),
    ),
    pairs: new Map(Object.entries(data.pairs).map(([at, list]) => [at, new Set(list)])),
  };
}

export const rowsOf = (world: World, entity: string): readonly Row[] => [...(world.rows.get(entity)?.values() ?? [])];
export const rowOf = (world: World, entity: string, id: unknown): Row | undefined =>
  typeof id === "string" ? world.rows.get(entity)?.get(id) : undefined;
export const pairsAt = (world: World, at: string): ReadonlySet<string> => world.pairs.get(at) ?? new Set();

export function withRow(world: World, entity: string, row: Row): World {
  const table = new Map(world.rows.get(entity));
  table.set(row.id as string, row);
  return { rows: new Map(world.rows).set(entity, table), pairs: world.pairs };
}

export function withPairs(world: World, at: string, pairs: ReadonlySet<string>): World {
  return { rows: world.rows, pairs: new Map(world.pairs).set(at, pairs) };
}

/** A softly deleted record does not exist for any caller. */
export const isLive = (entity: EntityModel, row: Row): boolean =>
  entity.softDelete === undefined || (row.deletedAt ?? null) === null;

export const withoutRow = (model: Model, world: World, entity: string, id: string): World | undefined =>
  withoutRows(model, world, entity, [id]);

/**
 * The world without some rows, and without the rows that their deletion removes (`cascade`, pairs) or the keys it clears
 * (`setNull`). Undefined if a remaining row refers to a deleted one (`restrict`); softly deleted rows count too, because the
 * database does not distinguish them.
 */
export function withoutRows(model: Model, world: World, entity: string, ids: readonly string[]): World | undefined {
  const gone = new Set<string>(ids.map((id) => `${entity} ${id}`));
  const queue: [string, string][] = ids.map((id) => [entity, id]);
  const referrers = (to: string, toId: string) =>
    model.entities.flatMap((from) =>
      keysOf(from)
        .filter(({ target }) => target === to)
        .flatMap((relation) =>
          rowsOf(world, from.name)
            .filter((row) => row[keyOf(relation)] === toId)
            .map((row) => ({ from, relation, row })),
        ),
    );
  for (const [name, key] of queue)
    for (const { from, relation, row } of referrers(name, key)) {
      const mark = `${from.name} ${String(row.id)}`;
      if (relation.onDelete !== "cascade" || gone.has(mark)) continue;
      gone.add(mark);
      queue.push([from.name, row.id as string]);
    }
  let next = world;
  for (const [name, key] of queue)
    for (const { from, relation, row } of referrers(name, key)) {
      if (gone.has(`${from.name} ${String(row.id)}`)) continue;
      if ((relation.onDelete ?? (relation.optional ? "setNull" : "restrict")) === "restrict") return undefined;
      const current = rowOf(next, from.name, row.id) as Row;
      next = withRow(next, from.name, { ...current, [keyOf(relation)]: null });
    }
  const rows = new Map(
    [...next.rows].map(([name, table]) => [name, new Map([...table].filter(([key]) => !gone.has(`${name} ${key}`)))]),
  );
  const pairs = new Map(
    [...next.pairs].map(([at, list]) => {
      const [source = "", relation = ""] = at.split(".");
      const target = model.entities.find((one) => one.name === source)?.relations.find((one) => one.name === relation);
      const stays = (pair: string): boolean => {
        const [a = "", b = ""] = pair.split("|");
        return !gone.has(`${source} ${a}`) && !gone.has(`${target?.target} ${b}`);
      };
      return [at, new Set([...list].filter(stays))];
    }),
  );
  return { rows, pairs };
}

/**
 * Whether a row removed by cascade refers to another removed row by a `restrict` key. The order in which a database checks
 * such keys and cascades is not specified: PostgreSQL may refuse what SQLite and memory do.
 */
export const isTangled = (model: Model, before: World, after: World): boolean => {
  const isGone = (name: string, id: unknown): boolean =>
    rowOf(before, name, id) !== undefined && rowOf(after, name, id) === undefined;
  return model.entities.some((entity) =>
    rowsOf(before, entity.name).some(
      (row) =>
        isGone(entity.name, row.id) &&
        keysOf(entity).some(
          (one) =>
            (one.onDelete ?? (one.optional ? "setNull" : "restrict")) === "restrict" &&
            isGone(one.target, row[keyOf(one)]),
        ),
    ),
  );
};
