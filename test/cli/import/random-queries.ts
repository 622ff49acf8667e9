import { expect } from "vitest";
import type { AnyEntity, ColumnDefinition } from "../../../src/entity/index.ts";
import { routeSegment } from "../../../src/kernel/index.ts";
import type { Catalogue } from "./catalogue.ts";
import { shownRow, tableIn, withNulls } from "./imported.ts";
import type { Database } from "./random-schemas.ts";
import { literal, randomFrom } from "./random-statements.ts";

type Ask = (path: string) => Promise<{ readonly status: number; readonly headers: Headers; readonly body: unknown }>;
type Shown = Record<string, unknown>;
/** A condition in the API's form and in SQL. */
interface Asked {
  readonly where: object;
  readonly sql: string;
}

const SIGNS = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/** Random queries of imported entities, each compared with SQL. */
export class RandomQueries {
  readonly #name: Database;
  readonly #entities: readonly AnyEntity[];
  readonly #database: Pick<Catalogue, "rows">;
  readonly #seed: number;
  readonly #random: () => number;
  readonly #rows = new Map<AnyEntity, readonly Shown[]>();

  constructor(name: Database, entities: readonly AnyEntity[], database: Pick<Catalogue, "rows">, seed: number) {
    this.#name = name;
    this.#entities = entities;
    this.#database = database;
    this.#seed = seed;
    this.#random = randomFrom(seed);
  }

  async compareNext(ask: Ask): Promise<void> {
    const entity = this.#one(this.#entities);
    const asked = await this.#condition(entity, 2);
    const keys = this.#chance(0.7) ? [this.#one(this.#sortable(entity)), this.#one(this.#sortable(entity))] : [];
    const sort = [...new Map(keys.map((column) => [column.name, { column, isDown: this.#chance(0.5) }])).values()];
    const id = entity.columns.id as ColumnDefinition;
    const order = [
      ...sort.map(({ column, isDown }) => this.#key(column, isDown)),
      ...(id.parts ?? [id]).map((column) => this.#key(column, false)),
    ];
    const table = tableIn(entity, '"');
    const sql = `select * from ${table} where ${asked.sql} order by ${order.join(", ")}`;
    const expected = (await this.#database.rows(sql)).map((row) => shownRow(entity, row));
    const query = new URLSearchParams({ _where: JSON.stringify(asked.where), _limit: "100" });
    if (sort.length > 0)
      query.set("_sort", sort.map(({ column, isDown }) => `${isDown ? "-" : ""}${column.name}`).join());
    const path = `/api/${routeSegment(entity)}`;
    const isPaged = this.#chance(0.5);
    if (isPaged) query.set("_limit", String(1 + Math.floor(this.#random() * 7)));
    const found: Shown[] = [];
    for (;;) {
      const { status, headers, body } = await ask(`${path}?${query}`);
      const where = `seed ${this.#seed}: ${path}?${decodeURIComponent(String(query))}\n${sql}`;
      expect(status, `${where} ${JSON.stringify(body)}`).toBe(200);
      found.push(...(body as Shown[]).map((record) => withNulls(entity, record)));
      const next = headers.get("x-next-cursor");
      if (next === null || found.length > expected.length) {
        expect(found, where).toEqual(expected);
        return;
      }
      query.set("_after", next);
    }
  }

  #one<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random() * of.length)] as T;
  }

  #chance(of: number): boolean {
    return this.#random() < of;
  }

  #sortable({ columns }: AnyEntity): ColumnDefinition[] {
    return Object.values(columns).filter(({ kind, parts }) => kind.sortable && parts === undefined);
  }

  /** A key of the order. Null is the smallest value. */
  #key(column: ColumnDefinition, isDown: boolean): string {
    const nulls = this.#name !== "PostgreSQL" || !column.optional ? "" : isDown ? " nulls last" : " nulls first";
    return `${this.#comparable(column)} ${isDown ? "desc" : "asc"}${nulls}`;
  }

  /** The comparable form of a column: exact text, and datetimes by their meaning. */
  #comparable({ stored, kind }: ColumnDefinition): string {
    const { scalar } = kind.column;
    if (this.#name === "MariaDB" && (scalar === "String" || scalar === "Uuid"))
      return `"${stored}" collate utf8mb4_nopad_bin`;
    if (this.#name !== "SQLite" || scalar !== "DateTime") return `"${stored}"`;
    const digits = `case when substr("${stored}", 20, 1) = '.' then substr("${stored}", 21, 3) else '000' end`;
    return `(strftime('%Y-%m-%d %H:%M:%S', "${stored}") || '.' || ${digits})`;
  }

  async #condition(entity: AnyEntity, depth: number): Promise<Asked> {
    if (depth > 0 && this.#chance(0.4)) {
      const parts = [await this.#condition(entity, depth - 1), await this.#condition(entity, depth - 1)];
      const word = this.#chance(0.5) ? "and" : "or";
      return {
        where: { [word]: parts.map(({ where }) => where) },
        sql: `(${parts.map(({ sql }) => sql).join(` ${word} `)})`,
      };
    }
    if (depth > 0 && this.#chance(0.15)) {
      const { where, sql } = await this.#condition(entity, depth - 1);
      return { where: { not: where }, sql: `not coalesce(${sql}, ${this.#name === "PostgreSQL" ? "false" : "0"})` };
    }
    return this.#leaf(entity);
  }

  async #leaf(entity: AnyEntity): Promise<Asked> {
    const rows = this.#rows.get(entity) ?? (await this.#allRows(entity));
    const columns = Object.values(entity.columns).filter(
      ({ kind, parts }) => kind.operators.has("eq") && parts === undefined,
    );
    const column = this.#one(columns);
    const operators = [...column.kind.operators].filter((operator) => !["like", "starts", "ends"].includes(operator));
    const operator = this.#one(operators);
    const { name, stored } = column;
    const value = this.#one(rows)?.[name] ?? null;
    if (operator === "null" || value === null) {
      const isNull = this.#chance(0.5);
      return { where: { [name]: { null: isNull } }, sql: `"${stored}" is ${isNull ? "" : "not "}null` };
    }
    const other = this.#one(rows)?.[name] ?? value;
    const isList = operator === "in" || operator === "nin";
    const where = { [name]: { [operator]: isList ? [value, other] : value } };
    const sql = isList
      ? `(${this.#is(column, value)} or ${this.#is(column, other)})`
      : this.#test(column, operator, value);
    if (operator === "ne" || operator === "nin") return { where, sql: `(not ${sql} or "${stored}" is null)` };
    return { where, sql: `(${sql} and "${stored}" is not null)` };
  }

  async #allRows(entity: AnyEntity): Promise<readonly Shown[]> {
    const rows = await this.#database.rows(`select * from ${tableIn(entity, '"')}`);
    const shown = rows.map((row) => shownRow(entity, row));
    this.#rows.set(entity, shown);
    return shown;
  }

  #test(column: ColumnDefinition, operator: string, value: unknown): string {
    const sign = SIGNS[operator as keyof typeof SIGNS];
    if (sign === undefined) return this.#is(column, value);
    const left = this.#comparable(column);
    const { scalar, words } = column.kind.column;
    // MariaDB compares enum values as text, and sorts them by position.
    if (this.#name === "MariaDB" && words !== undefined)
      return `"${column.stored}" + 0 ${sign} ${words.indexOf(String(value)) + 1}`;
    if (scalar !== "DateTime") return `${left} ${sign} ${literalOf(value)}`;
    // A response has milliseconds: stored values equal to it lie before the next millisecond.
    if (operator === "gt") return `${left} >= ${this.#moment(value, 1)}`;
    if (operator === "lte") return `${left} < ${this.#moment(value, 1)}`;
    return `${left} ${sign} ${this.#moment(value, 0)}`;
  }

  #is(column: ColumnDefinition, value: unknown): string {
    const left = this.#comparable(column);
    if (column.kind.column.scalar !== "DateTime") return `(${left} = ${literalOf(value)})`;
    return `(${left} >= ${this.#moment(value, 0)} and ${left} < ${this.#moment(value, 1)})`;
  }

  #moment(value: unknown, more: number): string {
    const text = new Date(Date.parse(String(value)) + more).toISOString().slice(0, 23).replace("T", " ");
    return this.#name === "PostgreSQL" ? `'${text}+00'` : `'${text}'`;
  }
}

function literalOf(value: unknown): string {
  if (typeof value === "boolean") return value ? "true" : "false";
  return typeof value === "number" ? String(value) : literal(String(value));
}
