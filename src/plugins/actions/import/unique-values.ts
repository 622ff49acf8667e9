import {
  type AnyEntity,
  type ColumnDefinition,
  type EntityModel,
  jsonText,
  plainField,
} from "../../../entity/index.ts";
import { allOf, type Driver, type Row, type Where } from "../../../gate/index.ts";

/** Fields whose combined values are unique. */
export type UniqueKey = readonly string[];

/** A value as it will be stored, or its default; undefined or null when nothing is stored. */
type ReadValue = (value: unknown) => unknown;

/** Whether two lists name the same fields. */
export function isSameKey(one: UniqueKey, other: UniqueKey): boolean {
  return one.length === other.length && one.every((name) => other.includes(name));
}

/** What an import needs to know of an entity, worked out once. */
export interface UniqueKeys {
  /** All unique keys, including the id. */
  readonly keys: readonly UniqueKey[];
  /** The values that a row will store in some columns; undefined if one of them is missing. */
  valuesOf(columns: UniqueKey, row: Row): Row | undefined;
}

const known = new WeakMap<EntityModel, Map<AnyEntity, UniqueKeys>>();

/** The unique keys of an entity. */
export function uniqueKeysOf(model: EntityModel, entity: AnyEntity): UniqueKeys {
  const ofModel = known.get(model) ?? new Map<AnyEntity, UniqueKeys>();
  known.set(model, ofModel);
  const found = ofModel.get(entity) ?? compile(model, entity);
  ofModel.set(entity, found);
  return found;
}

function compile(model: EntityModel, entity: AnyEntity): UniqueKeys {
  const columns = Object.values(entity.columns);
  const single = columns.filter((column) => column.unique || isFollowedBySingle(model, entity, column));
  const keys = [...single.map(({ name, of = name }) => [of]), ...entity.uniques];
  const readers = new Map(
    keys.flat().map((name) => [name, valueReader(entity.columns[name] as ColumnDefinition)] as const),
  );
  return {
    keys,
    valuesOf(names, row) {
      const values: Row = {};
      for (const name of names) {
        const read = readers.get(name)?.(row[name]);
        if (read === undefined || read === null) return undefined;
        values[name] = read;
      }
      return values;
    },
  };
}

function valueReader({ kind, field }: ColumnDefinition): ReadValue {
  const schema = kind.schema(field ?? plainField(kind));
  const given = field?.default;
  const fallback = given !== undefined && "value" in given ? given.value : undefined;
  return (value = fallback) => (value === null || value === undefined ? undefined : schema.safeParse(value).data);
}

/** Whether a foreign key belongs to a relation whose inverse is a `hasOne`: two records must not share its value. */
function isFollowedBySingle(model: EntityModel, entity: AnyEntity, { relation }: ColumnDefinition): boolean {
  const key = relation === undefined ? undefined : model.relation(entity, relation);
  if (key?.inverse === undefined || key.remote !== undefined) return false;
  return model.relation(key.target, key.inverse)?.type === "hasOne";
}

/** The most values of one query; for keys of several fields, the most combinations. */
const VALUES = 500;
const PAIRS = 100;

/** The id of a record that a dry run has rolled back. */
export const TAKEN_BACK = "";

/** Finds the records that hold unique values. Values of a whole batch are looked up together, others one by one. */
export class Owners {
  readonly #driver: Driver;
  readonly #entity: AnyEntity;
  readonly #unique: UniqueKeys;
  /** Ids by key and values; null for values that no record has. */
  #known = new Map<string, string | null>();
  readonly #takenBack: ReadonlySet<string>;
  readonly #released = new Set<string>();
  /** Unique keys of new records with their values, one text each. */
  readonly added = new Set<string>();
  readonly #live: Where | undefined;

  constructor(driver: Driver, entity: AnyEntity, unique: UniqueKeys, takenBack: ReadonlySet<string>) {
    this.#driver = driver;
    this.#entity = entity;
    this.#unique = unique;
    this.#takenBack = takenBack;
    // Soft-deleted records do not occupy their values.
    this.#live = entity.softDelete === undefined ? undefined : { [entity.softDelete.field]: null };
  }

  /** Looks up the unique values of rows. */
  async learn(rows: readonly Row[]): Promise<void> {
    for (const key of this.#unique.keys) {
      const wanted = new Map<string, Row>();
      for (const row of rows) {
        const values = this.#unique.valuesOf(key, row);
        if (values !== undefined) wanted.set(textOf(key, values), values);
      }
      const all = [...wanted.values()];
      const portion = key.length === 1 ? VALUES : PAIRS;
      for (let start = 0; start < all.length; start += portion) await this.#ask(key, all.slice(start, start + portion));
      for (const text of wanted.keys()) if (!this.#known.has(text)) this.#known.set(text, null);
    }
  }

  /**
   * The id of the record with these values; null without such a record. For the key `id`, only records that were looked up
   * are known.
   */
  async of(key: UniqueKey, values: Row): Promise<string | null> {
    if (key.some((name) => values[name] === null || values[name] === undefined)) return null;
    const text = textOf(key, values);
    if (this.#takenBack.has(text) && !this.#released.has(text)) return TAKEN_BACK;
    const known = this.#known.get(text);
    if (known !== undefined || key[0] === "id") return known ?? null;
    await this.#ask(key, [values]);
    if (!this.#known.has(text)) this.#known.set(text, null);
    return this.#known.get(text) ?? null;
  }

  /**
   * The first unique key whose values another record has, so that the database would refuse them.
   * @param id of the record that is changed @default it is a new one
   */
  async keyTaken(data: Row, id?: string): Promise<UniqueKey | undefined> {
    for (const key of this.#unique.keys) {
      const owner = await this.of(key, data);
      if (owner !== null && owner !== id) return key;
    }
    return undefined;
  }

  /** Whether the known owners of unique values stay valid after a change. */
  async keep(data: Row, id: string | undefined): Promise<boolean> {
    const { softDelete } = this.#entity;
    if (softDelete !== undefined && Object.hasOwn(data, softDelete.field)) return false;
    const touched = this.#unique.keys.filter((key) => key.some((name) => Object.hasOwn(data, name)));
    for (const key of touched) if ((await this.of(key, data)) !== id) return false;
    return true;
  }

  add(row: Row): void {
    for (const key of this.#unique.keys) {
      if (key.some((name) => (row[name] ?? null) === null)) continue;
      this.#known.set(textOf(key, row), row.id as string);
      this.added.add(textOf(key, row));
    }
  }

  /** Frees the values of a record that was rolled back for the next record. */
  release(key: UniqueKey, values: Row): void {
    this.#released.add(textOf(key, values));
  }

  /** Forgets all known owners, because they may have changed. */
  forget(): void {
    this.#known = new Map();
  }

  async #ask(key: UniqueKey, wanted: readonly Row[]): Promise<void> {
    const [name] = key as [string];
    const where: Where = key.length === 1 ? { [name]: { in: wanted.map((values) => values[name]) } } : { OR: wanted };
    const select = [...new Set(["id", ...key])];
    const rows = await this.#driver.findMany(this.#entity, { where: allOf(where, this.#live), select });
    for (const row of rows) this.#known.set(textOf(key, row), row.id as string);
  }
}

function textOf(key: UniqueKey, values: Row): string {
  return jsonText(key.map((name) => [name, values[name]]));
}
