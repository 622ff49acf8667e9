/**
 * Writes with related records (guides/writing.md, “With related records”): the same as single requests one after the other, in
 * one transaction. Records that the record refers to come first, then the record, then those that refer to it.
 */
import type { Call, EntityModel, Input, Json, JsonObject, RelationModel, Row } from "../model.ts";
import { entityOf, keyOf, relationOf } from "../model.ts";
import { type Links, ownerKey } from "./input.ts";
import type { Outcome, Setting } from "./outcome.ts";
import { allowed, passes, reachOf } from "./rules.ts";
import { isKeyOf, listed } from "./shown.ts";
import { treeTest } from "./trees.ts";
import { rowOf, rowsOf, type World } from "./world.ts";
import { answer, create, remove, update } from "./writes.ts";

type Of<D extends Call["do"]> = Extract<Call, { do: D }>;
type Ids = () => string;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a body writes related records. */
export const nests = (entity: EntityModel, data: Input): boolean =>
  Object.entries(data).some(([name, value]) => relationOf(entity, name) !== undefined && isObject(value));

export function nestedCreate(setting: Setting, { data, include }: Of<"create">, ids: Ids): Outcome[] {
  return allOrNothing(setting, (work) => work.answers(work.create(setting.entity, data, ids), 201, include));
}

export function nestedUpdate(setting: Setting, { id, data, include }: Of<"update">, ids: Ids): Outcome[] {
  return allOrNothing(setting, (work) => work.answers(work.update(setting.entity, id, data, ids), 200, include));
}

/** Which of several errors is reported first is not specified. */
const REFUSALS: readonly Outcome[] = [400, 401, 403, 404, 409].map((status) => ({ status }));
const REFUSED = new Error("one of the writes is refused");

export function allOrNothing(setting: Setting, run: (work: Work) => readonly Outcome[]): Outcome[] {
  const work = new Work(setting);
  try {
    const done = run(work);
    return [...done, ...work.either];
  } catch (error) {
    if (error !== REFUSED) throw error;
    return [...REFUSALS];
  }
}

/** Single requests of one caller, one after the other. */
export class Work {
  readonly #setting: Setting;
  world: World;
  /** Refusals that the documents leave open. */
  readonly either: Outcome[] = [];

  constructor(setting: Setting) {
    this.#setting = setting;
    this.world = setting.world;
  }

  at(entity: EntityModel): Setting {
    return { ...this.#setting, entity, world: this.world };
  }

  /** Continues in the world that a request leaves. */
  take(outcomes: readonly Outcome[]): Outcome {
    const done = outcomes.find(({ status }) => status < 300);
    if (done === undefined) throw REFUSED;
    this.either.push(...outcomes.filter(({ status }) => status >= 400));
    this.world = done.world ?? this.world;
    return done;
  }

  refuse(): never {
    throw REFUSED;
  }

  create(entity: EntityModel, data: Input, ids: Ids): Written {
    const { plain, links, nested } = this.#before(entity, data, ids);
    const id = ids();
    this.take(create(this.at(entity), plain, id, undefined, links));
    const row = rowOf(this.world, entity.name, id) as Row;
    this.#after(entity, id, nested, ids);
    return { entity, row };
  }

  update(entity: EntityModel, id: string, data: Input, ids: Ids): Written {
    const { plain, links, nested } = this.#before(entity, data, ids);
    this.take(update(this.at(entity), { do: "update", id, data: plain }, links));
    // A caller that may not read a record must not learn what it refers to.
    const refers = nested.some(
      ([{ kind }, words]) => (kind === "belongsTo" || kind === "selfRef") && "update" in words,
    );
    if (refers && !this.#reads(entity, id)) throw REFUSED;
    const written = rowOf(this.world, entity.name, id) as Row;
    this.#after(entity, id, nested, ids);
    // After all writes, the caller must still have the right to change the record.
    const row = rowOf(this.world, entity.name, id);
    const { model, by } = this.#setting;
    if (row === undefined || !allowed(model, this.world, entity, row, "update", by)) throw REFUSED;
    return { entity, row: written };
  }

  /** The response for the record. If a later write changes the record again, either version may be returned. */
  answers({ entity, row }: Written, status: number, include?: readonly string[]): Outcome[] {
    const last = rowOf(this.world, entity.name, row.id);
    if (last !== row) return [{ status, world: this.world, body: undefined }];
    return [answer(this.at(entity), this.world, row.id as string, status, include)];
  }

  #reads(entity: EntityModel, id: string): boolean {
    const row = rowOf(this.world, entity.name, id);
    const { model, by } = this.#setting;
    return row !== undefined && passes(model, this.world, entity, row, entity.rules.read, by, "stored");
  }

  /** Creates the records that the record refers to, and those of its pairs; returns the rest of the body. */
  #before(
    entity: EntityModel,
    data: Input,
    ids: Ids,
  ): { plain: Input; links: Links[]; nested: [RelationModel, JsonObject][] } {
    const plain: Record<string, Input[string]> = {};
    for (const [name, value] of Object.entries(data)) if (!nests(entity, { [name]: value })) plain[name] = value;
    const nested = entity.relations.flatMap((relation): [RelationModel, JsonObject][] => {
      const words = data[relation.name];
      return isObject(words) ? [[relation, words]] : [];
    });
    const links: Links[] = [];
    for (const [relation, words] of nested) {
      if (relation.kind !== "manyToMany") continue;
      const target = entityOf(this.#setting.model, relation.target);
      for (const [word, given] of Object.entries(words)) {
        const items = listOf(given);
        const mode = word === "set" ? "set" : word === "disconnect" ? "remove" : "add";
        const chosen = MAKES.includes(word)
          ? items.map((one) => this.#made(target, word, one, ids))
          : (items as string[]);
        links.push([relation, [...new Set(chosen)], mode]);
      }
    }
    for (const [relation, words] of nested) {
      if (relation.kind !== "belongsTo" && relation.kind !== "selfRef") continue;
      const key = keyOf(relation);
      const own = Object.entries(words).filter(([word]) => word !== "update");
      if (own.length > 1 || (own.length > 0 && plain[key] !== undefined)) throw REFUSED;
      // The found record may be the caller, depending on the key: only administrators may name owners in this way.
      if ("connectOrCreate" in words && key === ownerKey(entity) && this.#setting.by?.role !== "admin") throw REFUSED;
      for (const [word, given] of own)
        if (MAKES.includes(word))
          plain[key] = this.#made(entityOf(this.#setting.model, relation.target), word, given as Json, ids);
        else plain[key] = word === "connect" ? (given as string) : null;
    }
    return { plain, links, nested };
  }

  /** The id of a record that is created, or found by its key. */
  #made(target: EntityModel, word: string, item: Json, ids: Ids): string {
    const found = word === "create" ? undefined : this.#byKey(target, item as JsonObject);
    const data = (word === "create" ? item : (item as JsonObject).create) as Input;
    if (found !== undefined) return found;
    const { id } = this.create(target, data, ids).row;
    this.#assertKept(target, id as string, word === "create" ? {} : ((item as JsonObject).where as JsonObject));
    return id as string;
  }

  /** The record that has a unique key, among those in a list of the caller; a new record would have the same key. */
  #byKey(target: EntityModel, { where, create: made }: JsonObject): string | undefined {
    const setting = this.at(target);
    const [key = "", ...others] = Object.keys(where as JsonObject);
    const value = (where as JsonObject)[key];
    if (others.length > 0 || !isKeyOf(target, key, setting.by) || typeof value !== "string") throw REFUSED;
    if (reachOf(target, target.rules.read, setting.by, "list") === "none") throw REFUSED;
    if ((made as JsonObject)[key] !== value) throw REFUSED;
    const found = rowsOf(this.world, target.name).find((row) => row[key] === value && listed(setting, target, row));
    return found?.id as string | undefined;
  }

  /** A caller that may not write the key would create records that are never found again. */
  #assertKept(target: EntityModel, id: string, where: JsonObject): void {
    const row = rowOf(this.world, target.name, id);
    if (Object.entries(where).some(([name, value]) => row?.[name] !== value)) throw REFUSED;
  }

  /**
   * Writes the records that refer to the record, and changes its references: based on the record as first written, before
   * its own nested writes.
   */
  #after(entity: EntityModel, id: string, nested: readonly [RelationModel, JsonObject][], ids: Ids): void {
    const written = rowOf(this.world, entity.name, id);
    for (const [relation, words] of [...nested].sort(([a], [b]) => (a.name < b.name ? -1 : 1))) {
      const target = entityOf(this.#setting.model, relation.target);
      if (relation.kind === "manyToMany") continue;
      if (relation.kind === "belongsTo" || relation.kind === "selfRef") {
        if (!("update" in words)) continue;
        const key = written?.[keyOf(relation)];
        if (typeof key !== "string") throw REFUSED;
        this.update(target, key, words.update as Input, ids);
        continue;
      }
      const children: Children = {
        target,
        key: `${relation.inverse}Id`,
        parent: id,
        isOne: relation.kind === "hasOne",
      };
      if (words.set !== undefined) this.#set(children, words.set as readonly string[], ids);
      for (const { word, item } of inOrder(words)) this.#child(children, word, item, ids);
    }
  }

  #child(children: Children, word: string, item: Json, ids: Ids): void {
    const { target, key, parent, isOne } = children;
    const chosen = (): string => (isOne ? this.#only(children) : (item as string));
    switch (word) {
      case "create":
        this.create(target, { ...(item as Input), [key]: parent }, ids);
        return;
      case "connect":
        this.update(target, item as string, { [key]: parent }, ids);
        return;
      case "disconnect":
        this.#own(children, chosen(), { [key]: null }, ids);
        return;
      case "delete": {
        const id = chosen();
        this.#assertOwn(children, id);
        this.take(remove(this.at(target), { do: "delete", id }));
        return;
      }
      case "connectOrCreate": {
        const { where, create: made } = item as { where: JsonObject; create: Input };
        const found = this.#byKey(target, item as JsonObject);
        if (found !== undefined) this.update(target, found, { [key]: parent }, ids);
        else this.#assertKept(target, this.create(target, { ...made, [key]: parent }, ids).row.id as string, where);
        return;
      }
      case "upsert": {
        const { where, create: made, update: changes } = item as { where: Json; create: Input; update: Input };
        const [first, second] = this.#find(children, where);
        if (second !== undefined) throw REFUSED;
        if (first === undefined) this.create(target, { ...made, [key]: parent }, ids);
        else this.#own(children, first.id as string, changes, ids);
        return;
      }
      default: {
        const { id, ...changes } = item as JsonObject;
        const of = isOne ? this.#only(children) : (id as string);
        this.#own(children, of, (isOne ? item : changes) as Input, ids);
      }
    }
  }

  #set(children: Children, wanted: readonly string[], ids: Ids): void {
    const present = this.#find(children, {}).map(({ id }) => id as string);
    for (const id of [...new Set([...present, ...wanted])].sort())
      if (!wanted.includes(id)) this.#own(children, id, { [children.key]: null }, ids);
      else if (!present.includes(id)) this.#child(children, "connect", id, ids);
  }

  #own(children: Children, id: string, data: Input, ids: Ids): void {
    this.#assertOwn(children, id);
    this.update(children.target, id, data, ids);
  }

  /** Only related records of the parent are changed, which requires the right to read them: a change could reveal the parent. */
  #assertOwn({ target, key, parent }: Children, id: string): void {
    if (rowOf(this.world, target.name, id)?.[key] !== parent || !this.#reads(target, id)) throw REFUSED;
  }

  #only(children: Children): string {
    const [only] = this.#find(children, {});
    if (only === undefined) throw REFUSED;
    return only.id as string;
  }

  /** The records that a list of the caller returns, ordered by id. */
  #find({ target, key, parent }: Children, where: Json): Row[] {
    const setting = this.at(target);
    if (reachOf(target, target.rules.read, setting.by, "list") === "none") throw REFUSED;
    const test = treeTest(setting, target, where);
    if (test === undefined) throw REFUSED;
    return rowsOf(this.world, target.name)
      .filter((row) => row[key] === parent && listed(setting, target, row) && test(row))
      .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
  }
}

/** A record as written, before the writes that follow it. */
interface Written {
  readonly entity: EntityModel;
  readonly row: Row;
}

/** The records of a relation that refer to one record. */
interface Children {
  readonly target: EntityModel;
  readonly key: string;
  readonly parent: string;
  readonly isOne: boolean;
}

/** Keywords that may create a record. */
const MAKES: readonly string[] = ["create", "connectOrCreate"];

const listOf = (given: Json | undefined): readonly Json[] => (Array.isArray(given) ? given : [given as Json]);

interface Item {
  readonly word: string;
  readonly item: Json;
}

/** Records named by id come in that order, before new ones and those found by key. */
function inOrder(words: JsonObject): readonly Item[] {
  const items = Object.entries(words).flatMap(([word, given]): Item[] =>
    word === "set" ? [] : listOf(given).map((item) => ({ word, item })),
  );
  const idOf = ({ word, item }: Item): string | undefined => {
    const id = word === "update" && isObject(item) ? item.id : item;
    return !MAKES.includes(word) && word !== "upsert" && typeof id === "string" ? id : undefined;
  };
  const named = items.filter((one) => idOf(one) !== undefined);
  named.sort((a, b) => ((idOf(a) as string) < (idOf(b) as string) ? -1 : idOf(a) === idOf(b) ? 0 : 1));
  return [...named, ...items.filter((one) => idOf(one) === undefined)];
}
