import type { RawBuilder } from "kysely";
import type { ColumnDefinition, ResolvedRelation } from "../../../entity/index.ts";
import { type Condition, isAlways } from "../../../kernel/index.ts";
import { linkTable } from "../schema/link-table.ts";
import { codecOf } from "./codec.ts";
import { askedOfRelated } from "./condition-shape.ts";
import { type ListForm, listForm } from "./list-form.ts";
import type { Places } from "./slot.ts";
import type { SqlBuilder } from "./sql-builder.ts";

type Compare = Condition & { readonly kind: "compare" };
type Related = Condition & { readonly kind: "related" };
type Expression = RawBuilder<boolean>;

/** Writes the conditions of one statement. */
export class ConditionBuilder {
  readonly #builder: SqlBuilder;
  readonly #slots: Places;
  #tables = 0;

  constructor(builder: SqlBuilder, slots: Places) {
    this.#builder = builder;
    this.#slots = slots;
  }

  /**
   * A condition on the rows of a table.
   * @param table What the statement calls the table
   */
  build(condition: Condition, table: string): Expression {
    const { sql } = this.#builder;
    switch (condition.kind) {
      case "and":
        return this.#joined(condition.parts, table, sql` and `, sql<boolean>`1 = 1`);
      case "or":
        return this.#joined(condition.parts, table, sql` or `, sql<boolean>`1 = 0`);
      case "null": {
        const column = sql.id(table, condition.column.name);
        return condition.negated ? sql<boolean>`${column} is not null` : sql<boolean>`${column} is null`;
      }
      case "related":
        return this.#related(condition, table);
      case "compare":
        return this.#compare(condition, table);
    }
  }

  #joined(parts: readonly Condition[], table: string, separator: RawBuilder<unknown>, none: Expression): Expression {
    const { sql } = this.#builder;
    const built = parts.map((part) => this.build(part, table));
    if (built.length < 2) return built[0] ?? none;
    return sql<boolean>`(${sql.join(built, separator)})`;
  }

  #compare(condition: Compare, table: string): Expression {
    const { sql } = this.#builder;
    const column = sql.id(table, condition.column.name);
    const plain = this.#plain(condition, column);
    if (!condition.negated) return plain;
    // SQL knows neither yes nor no about null; we do.
    return condition.column.optional ? sql`(not (${plain}) or ${column} is null)` : sql`not (${plain})`;
  }

  #plain({ column, operator, value }: Compare, name: RawBuilder<unknown>): Expression {
    const { sql, provider } = this.#builder;
    const { type } = codecOf(provider, column);
    switch (operator) {
      case "in":
        return this.#in(column, name, listForm(provider, column, (value as readonly unknown[]).length));
      case "eq":
        return sql`${name} = ${this.#slots.next(type)}`;
      case "gt":
        return sql`${name} > ${this.#slots.next(type)}`;
      case "gte":
        return sql`${name} >= ${this.#slots.next(type)}`;
      case "lt":
        return sql`${name} < ${this.#slots.next(type)}`;
      case "lte":
        return sql`${name} <= ${this.#slots.next(type)}`;
      default:
        return this.#search(name, this.#slots.next(type));
    }
  }

  /** Ignores case: PostgreSQL by a word of its own, SQLite (of A to Z) always, MySQL not, as its columns compare exactly. */
  #search(name: RawBuilder<unknown>, pattern: unknown): Expression {
    const { sql, provider } = this.#builder;
    if (provider === "postgresql") return sql`${name} ilike ${pattern}`;
    if (provider === "sqlite") return sql`${name} like ${pattern} escape '!'`;
    return sql`lower(${name}) like lower(${pattern}) escape '!'`;
  }

  #in(column: ColumnDefinition, name: RawBuilder<unknown>, form: ListForm): Expression {
    const { sql, provider } = this.#builder;
    const { type, listType } = codecOf(provider, column);
    if (form === "array") return sql`${name} = any(${this.#slots.next(listType)})`;
    if (form === "json") return this.#inJson(name);
    const values = Array.from({ length: form }, () => this.#slots.next(type));
    return sql`${name} in (${sql.join(values)})`;
  }

  #inJson(name: RawBuilder<unknown>): Expression {
    const { sql, collation } = this.#builder;
    const list = this.#slots.next({ scalarType: "string", arity: "scalar" });
    if (collation === undefined) return sql`${name} in (select value from json_each(${list}))`;
    const texts = sql`json_table(${list}, '$[*]' columns (value varchar(768) path '$')) as list`;
    return sql`${name} in (select list.value collate ${sql.raw(collation)} from ${texts})`;
  }

  #related(condition: Related, table: string): Expression {
    const { sql } = this.#builder;
    const { relation, quantifier } = condition;
    const where = askedOfRelated(condition);
    const isSome = quantifier === "some";
    if (relation.type === "belongsTo" && isAlways(where)) {
      const key = sql.id(table, relation.foreignKey as string);
      return isSome ? sql`${key} is not null` : sql`${key} is null`;
    }
    const found = this.#records(relation, where, table);
    return isSome ? sql`exists ${found}` : sql`not exists ${found}`;
  }

  /** Something from the related records that match. */
  #records(relation: ResolvedRelation, where: Condition, table: string): RawBuilder<unknown> {
    const { sql, db } = this.#builder;
    // Begins like no name of an entity or of its tables.
    const near = `_${this.#tables++}`;
    const one = sql.lit(1).as("one");
    if (relation.type !== "manyToMany") {
      const [own, other] =
        relation.type === "belongsTo" ? [relation.foreignKey as string, "id"] : ["id", relation.foreignKey as string];
      const query = db
        .selectFrom(`${relation.target.name} as ${near}`)
        .select(one)
        .where(sql<boolean>`${sql.id(near, other)} = ${sql.id(table, own)}`)
        .where(this.build(where, near));
      return sql`${query}`;
    }
    const link = linkTable(relation);
    const pairs = db
      .selectFrom(`${link.table} as ${near}`)
      .select(one)
      .where(sql<boolean>`${sql.id(near, link.own)} = ${sql.id(table, "id")}`);
    if (isAlways(where)) return sql`${pairs}`;
    const far = `_${this.#tables++}`;
    const target = db
      .selectFrom(`${relation.target.name} as ${far}`)
      .select(one)
      .where(sql<boolean>`${sql.id(far, "id")} = ${sql.id(near, link.other)}`)
      .where(this.build(where, far));
    return sql`${pairs.where(sql<boolean>`exists ${target}`)}`;
  }
}
