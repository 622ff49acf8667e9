import { camelCase, pascalCase, pluralize } from "../../kernel/index.ts";
import { addKeys } from "./add-keys.ts";
import { chooseId } from "./choose-id.ts";
import { type DatabaseShape, fullName, type Reference, type TableColumn, type TableShape } from "./database-shape.ts";
import { entityNames, freeName, isAloneUnique, timestampsOf, variableOf } from "./entity-names.ts";
import { type FieldCode, fieldOf, literalOf } from "./field-of.ts";
import type { Draft, ImportPlan } from "./import-plan.ts";

/** Plans the entities of a database. */
export function planEntities(database: DatabaseShape): ImportPlan {
  const planner = new Planner(database);
  return planner.plan();
}

type Counted = keyof ImportPlan["counts"];

class Planner {
  readonly #database: DatabaseShape;
  readonly #missing: string[] = [];
  readonly #found = new Map<Counted, number>();
  readonly #lost = new Map<Counted, number>();
  readonly #drafts = new Map<string, Draft>();

  constructor(database: DatabaseShape) {
    this.#database = database;
  }

  plan(): ImportPlan {
    const { tables } = this.#database;
    const pairs = tables.filter((table) => this.#isPairTable(table));
    const names = entityNames(tables.filter((table) => !pairs.includes(table)));
    for (const table of tables) this.#count(table);
    for (const [table, name] of names) this.#begin(table, name);
    for (const draft of this.#drafts.values()) this.#addColumns(draft);
    for (const draft of this.#drafts.values()) this.#addLists(draft);
    for (const table of pairs) this.#addPairs(table);
    for (const draft of this.#drafts.values()) addKeys(draft, (what, sentence) => this.#lose(what, sentence));
    const counts = Object.fromEntries(
      COUNTED.map((what) => {
        const found = this.#found.get(what) ?? 0;
        return [what, { found, said: found - (this.#lost.get(what) ?? 0) }];
      }),
    ) as unknown as ImportPlan["counts"];
    return { entities: [...this.#drafts.values()], missing: this.#missing, counts };
  }

  #count(table: TableShape): void {
    const add = (what: Counted, amount: number): void =>
      void this.#found.set(what, (this.#found.get(what) ?? 0) + amount);
    add("tables", 1);
    add("columns", table.columns.length);
    add("keys", table.key.length > 0 ? 1 : 0);
    add("uniques", table.uniques.length);
    add("indexes", table.indexes.length);
    add("references", table.references.length);
    add("others", table.others.length);
    for (const other of table.others)
      this.#lose("others", `${fullName(table)}: ${other} stays the database's own business`);
  }

  #lose(what: Counted, sentence: string, amount = 1): void {
    this.#lost.set(what, (this.#lost.get(what) ?? 0) + amount);
    this.#missing.push(sentence);
  }

  #fieldOf(column: TableColumn): FieldCode | undefined {
    const { enums, provider } = this.#database;
    return fieldOf(
      column,
      enums.find(({ name }) => name === column.enum),
      provider,
    );
  }

  /** Whether a table consists of two keys only, and so has the pairs of a many-to-many relation. */
  #isPairTable(table: TableShape): boolean {
    const [one, other, third] = table.references;
    if (table.isView || one === undefined || other === undefined || third !== undefined) return false;
    const columns = [...one.columns, ...other.columns];
    const isWhole = one.columns.length === 1 && other.columns.length === 1 && table.columns.length === 2;
    const isDistinct = new Set(columns).size === 2;
    const lists = [
      table.key,
      ...table.uniques.filter(({ special }) => special === undefined).map((unique) => unique.columns),
    ];
    const isUnique = lists.some((list) => list.length === 2 && columns.every((column) => list.includes(column)));
    return isWhole && isDistinct && isUnique && [one, other].every((reference) => this.#leadsToId(reference));
  }

  #leadsToId({ schema, table, targets }: Reference): boolean {
    const target = this.#database.tables.find((one) => one.name === table && one.schema === schema);
    return target !== undefined && targets.length === 1 && target.key.length === 1 && target.key[0] === targets[0];
  }

  #begin(table: TableShape, name: string): void {
    const id = chooseId(table, (column) => {
      const field = this.#fieldOf(column);
      return field?.isArray ? undefined : field;
    });
    if ("why" in id) {
      this.#lose("tables", `${fullName(table)}: no entity, because ${id.why}`);
      this.#loseAll(table);
      return;
    }
    const schema = table.schema === undefined ? "" : `, { schema: ${JSON.stringify(table.schema)} }`;
    const isNamed = table.name !== name || schema !== "";
    this.#drafts.set(fullName(table), {
      name,
      table,
      id,
      members: [],
      calls: [
        ...("column" in id ? [id.call] : []),
        ...(isNamed ? [`table(${JSON.stringify(table.name)}${schema})`] : []),
      ],
      constructors: new Set("column" in id ? [id.maker] : []),
      related: new Set(),
      taken: new Set(),
      names: new Map("column" in id ? [[id.column.name, "id"]] : []),
    });
  }

  /** Counts everything that is lost with a table that has no entity. */
  #loseAll(table: TableShape): void {
    const lose = (what: Counted, amount: number): void =>
      void this.#lost.set(what, (this.#lost.get(what) ?? 0) + amount);
    lose("columns", table.columns.length);
    lose("keys", table.key.length > 0 ? 1 : 0);
    lose("uniques", table.uniques.length);
    lose("indexes", table.indexes.length);
    lose("references", table.references.length);
  }

  #addColumns(draft: Draft): void {
    const { table, id, calls, names } = draft;
    const moments = timestampsOf(table.columns);
    const references = new Map<string, Reference>();
    for (const reference of table.references) {
      const [column] = reference.columns;
      const problem = this.#referenceProblem(draft, reference);
      if (problem === undefined && column !== undefined) references.set(column, reference);
      else
        this.#lose(
          "references",
          `${fullName(table)}: the foreign key ${reference.name} is not a relation, because ${problem}`,
        );
      for (const other of problem === undefined ? reference.others : [])
        this.#missing.push(
          `${fullName(table)}: ${other} of the foreign key ${reference.name} stays the database's own business`,
        );
    }
    let isWritable = !table.isView;
    for (const column of table.columns) {
      if (("column" in id && column === id.column) || moments?.columns.includes(column.name)) continue;
      const reference = references.get(column.name);
      if (reference !== undefined) this.#addRelation(draft, column, reference);
      else if (!this.#addField(draft, column))
        isWritable &&= !column.required || column.default !== undefined || column.isComputed;
    }
    if ("parts" in id)
      calls.unshift(`id([${id.parts.map((part) => JSON.stringify(names.get(part.name))).join(", ")}])`);
    if (moments === undefined) calls.push("timestamps(false)");
    else if (moments.call !== undefined) calls.push(moments.call);
    calls.push(isWritable ? "existing()" : "readOnly()");
  }

  #referenceProblem({ id }: Draft, reference: Reference): string | undefined {
    const { columns, table, schema } = reference;
    if (columns.length > 1) return `it has ${columns.length} columns`;
    if ("column" in id && columns[0] === id.column.name) return "its column is the key";
    if (!this.#drafts.has(fullName({ schema, name: table })))
      return `${fullName({ schema, name: table })} is not an entity`;
    return this.#leadsToId(reference) ? undefined : `it refers to "${reference.targets.join(", ")}" and not to the key`;
  }

  /** @returns whether the column has a field */
  #addField(draft: Draft, column: TableColumn): boolean {
    const { table, members, constructors, names } = draft;
    const field = this.#fieldOf(column);
    if (field === undefined) {
      const type = `${column.type}${column.isArray ? "[]" : ""}`;
      this.#lose("columns", `${fullName(table)}: no field for the column "${column.name}" of the type ${type}`);
      return false;
    }
    const name = freeName(draft, camelCase(column.name), "Value");
    const unique = isAloneUnique(table, column.name) ? ".unique()" : "";
    constructors.add(field.maker);
    names.set(column.name, name);
    members.push({ name, code: `${field.code}${this.#modifiers(column, name, field)}${unique}` });
    return true;
  }

  #modifiers(column: TableColumn, name: string, field: FieldCode): string {
    const literal =
      column.default === undefined ? undefined : literalOf(column.default, field, this.#database.provider);
    return [
      column.required ? "" : ".optional()",
      column.name === name ? "" : `.column(${JSON.stringify(column.name)})`,
      column.isComputed ? ".computed()" : "",
      literal === undefined ? "" : `.default(${literal})`,
      literal === undefined && (column.default !== undefined || column.isCounted) ? ".databaseDefault()" : "",
      column.comment === undefined ? "" : `.describe(${JSON.stringify(column.comment)})`,
    ].join("");
  }

  #addRelation(draft: Draft, column: TableColumn, reference: Reference): void {
    const { table, members, constructors, names, related } = draft;
    const target = this.#drafts.get(fullName({ schema: reference.schema, name: reference.table })) as Draft;
    const bare = camelCase(column.name.replace(/_?(id|fk|uuid|no|ref)$/i, ""));
    const wanted = bare === "" ? target.name : bare;
    const name = freeName(draft, wanted, "Ref", (one) => `${one}Id`);
    const key = `${name}Id`;
    const isSelf = target === draft;
    constructors.add(isSelf ? "selfRef" : "belongsTo");
    if (!isSelf) related.add(target.name);
    names.set(column.name, key);
    const onDelete = column.required ? "restrict" : "setNull";
    const code = [
      isSelf ? "selfRef()" : `belongsTo(() => ${variableOf(target.name)})`,
      column.required ? "" : ".optional()",
      column.name === key ? "" : `.column(${JSON.stringify(column.name)})`,
      reference.onDelete === onDelete ? "" : `.onDelete("${reference.onDelete}")`,
      isAloneUnique(table, column.name) ? ".unique()" : "",
    ].join("");
    members.push({ name, code });
  }

  /** Adds the other side of each key that refers to an entity. */
  #addLists(target: Draft): void {
    for (const source of this.#drafts.values()) {
      const own = source.table.references.filter(
        (reference) =>
          fullName({ schema: reference.schema, name: reference.table }) === fullName(target.table) &&
          this.#referenceProblem(source, reference) === undefined,
      );
      for (const { columns } of own) {
        const column = columns[0] as string;
        const relation = (source.names.get(column) as string).slice(0, -"Id".length);
        const isOne = isAloneUnique(source.table, column);
        const noun = isOne ? source.name : pluralize(source.name);
        const isOnly = own.length === 1 && source !== target;
        const wanted = isOnly ? noun : `${noun}As${pascalCase(relation)}`;
        const maker = isOne ? "hasOne" : "hasMany";
        const name = freeName(target, wanted, "List");
        target.constructors.add(maker);
        if (source !== target) target.related.add(source.name);
        const inverse = isOnly ? "" : `.inverse(${JSON.stringify(relation)})`;
        target.members.push({ name, code: `${maker}(() => ${variableOf(source.name)})${inverse}` });
      }
    }
  }

  #addPairs(table: TableShape): void {
    const [one, other] = table.references as [Reference, Reference];
    const ends = [one, other].map(({ schema, table: name }) => this.#drafts.get(fullName({ schema, name })));
    const [near, far] = ends;
    if (near === undefined || far === undefined) {
      this.#lose("tables", `${fullName(table)}: no relation, because it connects tables without entities`);
      this.#loseAll(table);
      return;
    }
    const schema = table.schema === undefined ? "" : `schema: ${JSON.stringify(table.schema)}, `;
    const [own, theirs] = [one.columns[0], other.columns[0]].map((column) => JSON.stringify(column));
    const through = `.through(${JSON.stringify(table.name)}, { ${schema}own: ${own}, other: ${theirs} })`;
    const isSelf = near === far;
    const toNear = camelCase((one.columns[0] as string).replace(/_?(id|fk|uuid|no|ref)$/i, ""));
    const toFar = camelCase((other.columns[0] as string).replace(/_?(id|fk|uuid|no|ref)$/i, ""));
    const taken = (draft: Draft, wanted: string, fallback: string): string =>
      freeName(draft, draft.taken.has(wanted) ? fallback : wanted, "Links", (name) => `${name}Ids`);
    const farName = taken(near, isSelf ? pluralize(toFar) : pluralize(far.name), camelCase(`${table.name} ${toFar}`));
    const nearName = taken(
      far,
      isSelf ? pluralize(toNear) : pluralize(near.name),
      camelCase(`${table.name} ${toNear}`),
    );
    for (const draft of [near, far]) draft.constructors.add("manyToMany");
    if (!isSelf) {
      near.related.add(far.name);
      far.related.add(near.name);
    }
    near.members.push({
      name: farName,
      code: `manyToMany(() => ${variableOf(far.name)}).inverse(${JSON.stringify(nearName)})${through}`,
    });
    far.members.push({
      name: nearName,
      code: `manyToMany(() => ${variableOf(near.name)}).inverse(${JSON.stringify(farName)})`,
    });
    for (const index of table.indexes)
      this.#lose("indexes", `${fullName(table)}: the index ${index.name} stays the database's own business`);
  }
}

const COUNTED: readonly Counted[] = ["tables", "columns", "keys", "uniques", "indexes", "references", "others"];
