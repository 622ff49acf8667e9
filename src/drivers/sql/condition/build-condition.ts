import type { ArgType } from "@prisma/driver-adapter-utils";
import type { RawBuilder } from "kysely";
import type { ColumnDefinition, ResolvedRelation } from "../../../entity/index.ts";
import { type Compare, type Condition, isAlways, type Related } from "../../../gate/index.ts";
import { linkTable } from "../tables/link-table.ts";
import { sourceOf, storedName } from "../tables/table-names.ts";
import { buildAtPath } from "./build-path.ts";
import { codecOf, type ListForm, listForm } from "./column-codec.ts";
import { comparable, searched, sortedBy } from "./comparable.ts";
import { askedOfRelated, namesRows } from "./condition-shape.ts";
import { SIGNS } from "./patterns.ts";
import type { Places, SqlBuilder } from "./sql-builder.ts";

type Joined = Condition & { readonly of: readonly Condition[] };
type Expression = RawBuilder<boolean>;

const JSON_TEXT: ArgType = Object.freeze({ scalarType: "string", arity: "scalar" });

/** The context of a condition in a statement. */
interface Place {
  /** The name of the table in the statement. */
  readonly table: string;
  /** Whether several rows of the statement may lead to the same row of the table. */
  readonly isShared: boolean;
  /** Whether the statement selects its few rows by id. */
  readonly isNamed: boolean;
}

const NAMED: Omit<Place, "table"> = { isShared: false, isNamed: true };

/** Writes the conditions of one statement. */
export class ConditionBuilder {
  readonly #builder: SqlBuilder;
  readonly #slots: Places;
  #tables = 0;

  constructor(builder: SqlBuilder, slots: Places) {
    this.#builder = builder;
    this.#slots = slots;
  }

  /** Builds a condition on the rows of a table. @param table the name of the table in the statement */
  build(condition: Condition, table: string): Expression {
    return this.#at(condition, { table, isShared: false, isNamed: namesRows(condition) });
  }

  #at(condition: Condition, place: Place): Expression {
    switch (condition.op) {
      case "and":
      case "or":
        return this.#joined(condition, (part) => this.#at(part, place));
      case "not":
        return condition.of.op === "related"
          ? this.#related(condition.of, place, false)
          : this.#complement(condition.of, place.table);
      case "compare":
        return this.#compare(condition, place.table);
      case "related":
        return this.#related(condition, place, true);
      default:
        return this.#constant(condition.op === "always");
    }
  }

  /** The condition left by `askedOfStored` for a row that is not stored yet; its keys are values of the statement. */
  buildForNew(left: Condition): Expression {
    const { sql, provider } = this.#builder;
    if (left.op === "and" || left.op === "or") return this.#joined(left, (part) => this.buildForNew(part));
    if (left.op === "always" || left.op === "never") return this.#constant(left.op === "always");
    const asked = (left.op === "not" ? left.of : left) as Related;
    const { relation } = asked;
    const column = relation.source.columns[relation.foreignKey as string] as ColumnDefinition;
    const key = sql`${this.#slots.next(codecOf(provider, column).type)}`;
    const found = this.#rows(relation, storedName(relation.target, "id"), key, askedOfRelated(asked), NAMED);
    return left.op === "not" ? sql`not exists ${found}` : sql`exists ${found}`;
  }

  #constant(holds: boolean): Expression {
    const { sql } = this.#builder;
    return holds ? sql<boolean>`1 = 1` : sql<boolean>`1 = 0`;
  }

  #joined({ op, of }: Joined, build: (part: Condition) => Expression): Expression {
    const { sql } = this.#builder;
    const built = flat(op, of).map(build);
    if (built.length < 2) return built[0] ?? this.#constant(op === "and");
    return sql<boolean>`(${sql.join(built, op === "and" ? sql` and ` : sql` or `)})`;
  }

  #compare(condition: Compare, table: string): Expression {
    const { sql } = this.#builder;
    if (condition.column.parts !== undefined) return this.#parts(condition, condition.column.parts, table);
    const column = sql.id(table, condition.column.stored);
    if (condition.column.path !== undefined) return buildAtPath(this.#builder, this.#slots, condition, column);
    return condition.value === null ? this.#isNull(condition.column, column) : this.#plain(condition, column);
  }

  /** Compares a composite id: all its columns at once. */
  #parts({ test, value }: Compare, parts: readonly ColumnDefinition[], table: string): Expression {
    const { sql, provider } = this.#builder;
    if (value === null) return this.#constant(false);
    const plain = sql`(${sql.join(parts.map((part) => sql.id(table, part.stored)))})`;
    const row = sql`(${sql.join(parts.map((part) => comparable(this.#builder, part, sql.id(table, part.stored))))})`;
    const isExact = parts.every((part) => !this.#builder.inexact.has(part));
    const next = (): RawBuilder<unknown> =>
      sql`(${sql.join(parts.map((part) => this.#slots.next(codecOf(provider, part).type)))})`;
    const is = (id: RawBuilder<unknown>): Expression =>
      isExact ? sql`${row} = ${id}` : sql`(${plain} = ${id} and ${row} = ${id})`;
    if (test === "in")
      return sql<boolean>`(${sql.join(
        (value as readonly unknown[]).map(() => is(next())),
        sql` or `,
      )})`;
    return test === "eq" ? is(next()) : sql<boolean>`${row} ${sql.raw(SIGNS[test] ?? "=")} ${next()}`;
  }

  #complement(condition: Compare, table: string): Expression {
    const { sql } = this.#builder;
    const { parts, path } = condition.column;
    if (parts !== undefined || path !== undefined) return sql`not (${this.#compare(condition, table)})`;
    const column = sql.id(table, condition.column.stored);
    if (condition.value === null) return sql`not (${this.#isNull(condition.column, column)})`;
    const plain = this.#plain(condition, column);
    // In SQL, a comparison with null is unknown; here it is false.
    return condition.column.optional ? sql`(not (${plain}) or ${column} is null)` : sql`not (${plain})`;
  }

  /** Tests for null. In SQLite, texts that are not datetimes are read and sorted as null. */
  #isNull(column: ColumnDefinition, stored: RawBuilder<unknown>): Expression {
    const { sql, provider } = this.#builder;
    return sql`${provider === "sqlite" ? comparable(this.#builder, column, stored) : stored} is null`;
  }

  #plain({ column, test, value, record }: Compare, stored: RawBuilder<unknown>): Expression {
    const { sql, provider, inexact } = this.#builder;
    if (test === "isEmpty" || test === "hasAny" || test === "hasAll") return this.#items(column, test, stored);
    const name = comparable(this.#builder, column, stored);
    if (test === "in") {
      const list = this.#list(column, listForm(provider, column, (value as readonly unknown[]).length));
      // The first half can use an index.
      return inexact.has(column) ? sql`(${stored} ${list} and ${name} ${list})` : sql`${name} ${list}`;
    }
    const sign = SIGNS[test];
    if (record !== undefined && value === undefined)
      return sql`${sortedBy(this.#builder, column, stored)} ${sql.raw(sign ?? "=")} ${this.#valueIn(record, column)}`;
    const slot = this.#slots.next(codecOf(provider, column).type);
    if (sign === undefined) return this.#search(column, searched(this.#builder, column, stored), slot);
    const right = comparable(this.#builder, column, sql`${slot}`);
    if (record !== undefined) {
      const given = provider === "mysql" ? sql`cast(${right} as datetime(6))` : right;
      return sql`${name} ${sql.raw(sign)} coalesce(${this.#valueIn(record, column)}, ${given})`;
    }
    const plain = sql<boolean>`${name} ${sql.raw(sign)} ${right}`;
    return inexact.has(column) && test === "eq" ? sql`(${stored} = ${slot} and ${plain})` : plain;
  }

  /** Searches ignoring case; stored words are in lower case. On SQLite, LIKE ignores the case of A to Z only. */
  #search({ role }: ColumnDefinition, name: RawBuilder<unknown>, pattern: unknown): Expression {
    const { sql, provider } = this.#builder;
    if (provider === "postgresql") return sql`${name} ${sql.raw(role === "words" ? "like" : "ilike")} ${pattern}`;
    if (provider === "sqlite") return sql`${name} like ${pattern} escape '!'`;
    return sql`lower(${name}) like lower(${pattern}) escape '!'`;
  }

  #list(column: ColumnDefinition, form: ListForm): RawBuilder<unknown> {
    const { sql, provider } = this.#builder;
    const { type, listType } = codecOf(provider, column);
    if (form === "array") return sql`= any(${this.#slots.next(listType)})`;
    if (form === "json") return this.#jsonList();
    const values = Array.from({ length: form }, () => this.#slots.next(type));
    return sql`in (${sql.join(values)})`;
  }

  /** Conditions on list items: arrays in PostgreSQL, JSON elsewhere. */
  #items(column: ColumnDefinition, test: "isEmpty" | "hasAny" | "hasAll", name: RawBuilder<unknown>): Expression {
    const { sql, provider } = this.#builder;
    if (test === "isEmpty") {
      const length = { postgresql: "cardinality", sqlite: "json_array_length", mysql: "json_length" }[provider];
      return sql`${sql.raw(length)}(${name}) = 0`;
    }
    if (provider === "postgresql")
      return sql`${name} ${sql.raw(test === "hasAny" ? "&&" : "@>")} ${this.#slots.next(codecOf(provider, column).type)}`;
    const items = this.#slots.next(JSON_TEXT);
    if (provider === "mysql")
      return sql`${sql.raw(test === "hasAny" ? "json_overlaps" : "json_contains")}(${name}, ${items})`;
    const own = sql`(select value from json_each(${name}))`;
    return test === "hasAny"
      ? sql`exists (select 1 from json_each(${items}) as item where item.value in ${own})`
      : sql`(${name} is not null and not exists (select 1 from json_each(${items}) as item where item.value not in ${own}))`;
  }

  #jsonList(): RawBuilder<unknown> {
    const { sql, collation } = this.#builder;
    const list = this.#slots.next(JSON_TEXT);
    if (collation === undefined) return sql`in (select value from json_each(${list}))`;
    const texts = sql`json_table(${list}, '$[*]' columns (value varchar(768) path '$')) as list`;
    return sql`in (select list.value collate ${sql.raw(collation)} from ${texts})`;
  }

  /** The stored value of a record with all its digits, in its sortable form. */
  #valueIn({ entity, where }: NonNullable<Compare["record"]>, column: ColumnDefinition): RawBuilder<unknown> {
    const { sql, db } = this.#builder;
    const name = `_${this.#tables++}`;
    const value = sortedBy(this.#builder, column, sql.id(name, column.stored));
    const found = db
      .selectFrom(sourceOf(entity, name))
      .select(sql`${value}`.as("value"))
      .where(this.build(where, name));
    return sql`${found}`;
  }

  #related(condition: Related, place: Place, isSome: boolean): Expression {
    const { sql, provider } = this.#builder;
    const { relation } = condition;
    const where = askedOfRelated(condition);
    if (relation.type === "belongsTo" && isAlways(where)) {
      const key = sql.id(place.table, storedName(relation.source, relation.foreignKey as string));
      return isSome ? sql`${key} is not null` : sql`${key} is null`;
    }
    // SQLite would run a nested subquery for each row that leads here; it computes a list of ids only once.
    if (provider === "sqlite" && relation.many && place.isShared && !place.isNamed) {
      const id = sql.id(place.table, storedName(relation.source, "id"));
      const ids = this.#idsWith(relation, where);
      return isSome ? sql`${id} in ${ids}` : sql`${id} not in ${ids}`;
    }
    const found = this.#records(relation, where, place);
    return isSome ? sql`exists ${found}` : sql`not exists ${found}`;
  }

  /** Selects the rows of a relation's target that have a value in a column and match. */
  #rows(
    { target, type }: ResolvedRelation,
    column: string,
    value: RawBuilder<unknown>,
    where: Condition,
    { isShared, isNamed }: Omit<Place, "table">,
  ): RawBuilder<unknown> {
    const { sql, db } = this.#builder;
    // Names of entities and tables never have this prefix.
    const table = `_${this.#tables++}`;
    const query = db
      .selectFrom(sourceOf(target, table))
      .select(sql.lit(1).as("one"))
      .where(sql<boolean>`${sql.id(table, column)} = ${value}`)
      .where(this.#at(where, { table, isShared: type === "belongsTo" || (type === "hasOne" && isShared), isNamed }));
    return sql`${query}`;
  }

  /** Selects the related records that match. */
  #records(relation: ResolvedRelation, where: Condition, place: Place): RawBuilder<unknown> {
    const { sql } = this.#builder;
    const { table, isNamed } = place;
    const { source, target, type } = relation;
    const [own, other] = [storedName(source, "id"), storedName(target, "id")];
    if (type === "manyToMany") {
      const near = `_${this.#tables++}`;
      const { own: end } = linkTable(relation);
      const pairs = this.#pairs(relation, where, near, isNamed);
      return sql`${pairs.select(sql.lit(1).as("one")).where(sql<boolean>`${sql.id(near, end)} = ${sql.id(table, own)}`)}`;
    }
    const key = storedName(type === "belongsTo" ? source : target, relation.foreignKey as string);
    return type === "belongsTo"
      ? this.#rows(relation, other, sql.id(table, key), where, place)
      : this.#rows(relation, key, sql.id(table, own), where, place);
  }

  /** Selects the ids of all records with a matching related record. */
  #idsWith(relation: ResolvedRelation, where: Condition): RawBuilder<unknown> {
    const { sql, db } = this.#builder;
    const { target, type } = relation;
    const table = `_${this.#tables++}`;
    const isPair = type === "manyToMany";
    const end = isPair ? linkTable(relation).own : storedName(target, relation.foreignKey as string);
    const rows = isPair
      ? this.#pairs(relation, where, table, false)
      : db.selectFrom(sourceOf(target, table)).where(this.#at(where, { table, isShared: false, isNamed: false }));
    const id = sql.id(table, end);
    return sql`${rows.select(sql`${id}`.as("id")).where(sql<boolean>`${id} is not null`)}`;
  }

  /** Selects the pairs of a manyToMany relation whose other ends match. */
  #pairs(relation: ResolvedRelation, where: Condition, near: string, isNamed: boolean) {
    const { sql, db } = this.#builder;
    const link = linkTable(relation);
    const pairs = db.selectFrom(`${link.table} as ${near}`);
    if (isAlways(where)) return pairs;
    // Joined, not nested, because SQLite's parser limits the nesting depth.
    const far = `_${this.#tables++}`;
    const isOther = sql<boolean>`${sql.id(far, storedName(relation.target, "id"))} = ${sql.id(near, link.other)}`;
    return pairs
      .innerJoin(sourceOf(relation.target, far), (join) => join.on(isOther))
      .where(this.#at(where, { table: far, isShared: true, isNamed }));
  }
}

/** Flattens nested conditions with the same operator, since parentheses nest. */
function flat(op: Joined["op"], of: readonly Condition[]): readonly Condition[] {
  return of.flatMap((part) => ((part.op === "and" || part.op === "or") && part.op === op ? flat(op, part.of) : [part]));
}
