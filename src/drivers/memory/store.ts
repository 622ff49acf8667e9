import {
  type AnyEntity,
  type ColumnDefinition,
  type EntityModel,
  jsonText,
  type ResolvedRelation,
} from "../../entity/index.ts";
import type { Pair, Row } from "../../gate/index.ts";

/** A unique index: the row that holds each combination of values of some columns. */
export interface UniqueIndex {
  readonly columns: readonly string[];
  /** Rows with a value in this column are softly deleted and hold no values. */
  readonly unless: string | undefined;
  readonly holders: Map<string, string>;
}

/** The rows of one entity by id. Stored rows are replaced, never modified, so that copies of a table can share them. */
export interface Table {
  readonly rows: Map<string, Row>;
  readonly uniques: readonly UniqueIndex[];
}

/** The pairs of one manyToMany relation, for both of its sides. */
export interface LinkTable {
  readonly source: AnyEntity;
  readonly target: AnyEntity;
  readonly pairs: Map<string, Pair>;
}

/**
 * The key of a row in a unique index; undefined when it cannot collide, because a value is null or the row is deleted.
 */
export function uniqueKey({ columns, unless }: UniqueIndex, row: Row): string | undefined {
  if (unless !== undefined && row[unless] !== null) return undefined;
  const values = columns.map((name) => row[name]);
  return values.includes(null) ? undefined : jsonText(values);
}

/** The key of a pair in its table. */
export function linkKey({ source, target }: Pair): string {
  return JSON.stringify([source, target]);
}

/** The name of the table that both sides of a relation share, and whether this side sees its pairs reversed. */
export function linkTableOf({ source, name, target, inverse }: ResolvedRelation): { name: string; turned: boolean } {
  const own = `${source.name}.${name}`;
  const other = inverse === undefined ? own : `${target.name}.${inverse}`;
  return other < own ? { name: other, turned: true } : { name: own, turned: false };
}

/** Whether a hasOne relation uses the key from the other side: the key is then unique, even if not declared so. */
function isFollowedByOne(model: EntityModel, entity: AnyEntity, { relation }: ColumnDefinition): boolean {
  const key = relation === undefined ? undefined : model.relation(entity, relation);
  return key?.inverse !== undefined && model.relation(key.target, key.inverse)?.type === "hasOne";
}

function emptyTable(model: EntityModel, entity: AnyEntity): Table {
  // Ids are the keys of `rows`; the indexes are for all other unique columns and combinations.
  const single = Object.values(entity.columns).filter(
    (column) => column.role !== "id" && (column.unique || isFollowedByOne(model, entity, column)),
  );
  const columns = [...single.map(({ name }) => [name]), ...entity.uniques];
  const unless = entity.softDelete?.field;
  return { rows: new Map(), uniques: columns.map((names) => ({ columns: names, unless, holders: new Map() })) };
}

function emptyLinks(model: EntityModel): Map<string, LinkTable> {
  const tables = new Map<string, LinkTable>();
  for (const relation of model.entities.flatMap((entity) => model.relationsOf(entity))) {
    if (relation.type !== "manyToMany") continue;
    const { name, turned } = linkTableOf(relation);
    const { source, target } = relation;
    tables.set(name, { source: turned ? target : source, target: turned ? source : target, pairs: new Map() });
  }
  return tables;
}

function copyTable({ rows, uniques }: Table): Table {
  const indexes = uniques.map((index) => ({ ...index, holders: new Map(index.holders) }));
  return { rows: new Map(rows), uniques: indexes };
}

/**
 * All tables of one state of the data. A fork shares them with its origin and copies each table before its first
 * change.
 */
export class Store {
  readonly model: EntityModel;
  readonly #tables: Map<string, Table>;
  readonly #links: Map<string, LinkTable>;
  /** Tables that a fork has copied; undefined for the origin, which owns all tables. */
  readonly #own: Set<Table | LinkTable> | undefined;

  private constructor(model: EntityModel, tables: Map<string, Table>, links: Map<string, LinkTable>, isFork: boolean) {
    this.model = model;
    this.#tables = tables;
    this.#links = links;
    this.#own = isFork ? new Set() : undefined;
  }

  static empty(model: EntityModel): Store {
    const tables = new Map(model.entities.map((entity) => [entity.name, emptyTable(model, entity)]));
    return new Store(model, tables, emptyLinks(model), false);
  }

  /** Makes a state with the same contents. Its changes are not visible in other states until `adopt`. */
  fork(): Store {
    return new Store(this.model, new Map(this.#tables), new Map(this.#links), true);
  }

  /** Replaces this state with that of a fork. */
  adopt(fork: Store): void {
    for (const [name, table] of fork.#tables) this.#tables.set(name, table);
    for (const [name, table] of fork.#links) this.#links.set(name, table);
  }

  table(entity: AnyEntity): Table {
    return this.#tables.get(entity.name) as Table;
  }

  links(name: string): LinkTable {
    return this.#links.get(name) as LinkTable;
  }

  linkTables(): readonly [string, LinkTable][] {
    return [...this.#links];
  }

  writableTable(entity: AnyEntity): Table {
    return this.#writable(this.#tables, entity.name, copyTable);
  }

  writableLinks(name: string): LinkTable {
    return this.#writable(this.#links, name, (table) => ({ ...table, pairs: new Map(table.pairs) }));
  }

  #writable<T extends Table | LinkTable>(tables: Map<string, T>, name: string, copy: (table: T) => T): T {
    const table = tables.get(name) as T;
    if (this.#own === undefined || this.#own.has(table)) return table;
    const mine = copy(table);
    this.#own.add(mine);
    tables.set(name, mine);
    return mine;
  }
}
