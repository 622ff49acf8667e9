import { type AnyEntity, ConfigurationError, isKeelsonError } from "../../entity/index.ts";
import type { Row } from "../../gate/index.ts";
import { applyChanges, type Changes } from "./changes.ts";
import { link, linksOf } from "./execute-in-memory.ts";
import { newRow, takeIn } from "./rows.ts";
import type { Store } from "./store.ts";

/** Rows by entity name. Missing values are filled in; `<relation>Ids` are the links of a manyToMany relation. */
export type Seed = Readonly<Record<string, readonly Row[]>>;

/** Fills in the values that the framework would set: id, timestamps, version, defaults that are functions. */
function filledIn(entity: AnyEntity, row: Row, index: number): Row {
  const made: Row = { id: `${entity.name}-${String(index + 1).padStart(4, "0")}` };
  for (const { name, role, field } of Object.values(entity.columns)) {
    if (role === "createdAt" || role === "updatedAt") made[name] = new Date();
    else if (role === "version") made[name] = 1;
    else if (field?.default !== undefined && "make" in field.default) made[name] = field.default.make();
  }
  return { ...made, ...row };
}

/** Stores a seed. Rows may refer to each other in any order. @throws ConfigurationError naming the entity */
export function plant(store: Store, seed: Seed): void {
  const { model } = store;
  const changes: Changes = new Map();
  const links: (() => void)[] = [];
  for (const [name, list] of Object.entries(seed)) {
    const entity = model.get(name);
    if (entity === undefined)
      throw new ConfigurationError(`the seed names "${name}", which is not an entity of this app`);
    const rows = new Map<string, Row | null>();
    list.forEach((row, index) => {
      const data = filledIn(entity, row, index);
      const id = String(data.id);
      for (const relation of model.relationsOf(entity)) {
        const ids = data[`${relation.name}Ids`] as readonly string[] | undefined;
        if (relation.type !== "manyToMany" || ids === undefined) continue;
        delete data[`${relation.name}Ids`];
        links.push(() => explained(name, () => link(store, relation, id, ids)));
      }
      if (rows.has(id)) throw new ConfigurationError(`the seed of "${name}" has two rows with the id "${id}"`);
      rows.set(
        id,
        explained(name, () => newRow(entity, takeIn(entity, data))),
      );
    });
    changes.set(entity, rows);
  }
  explained(Object.keys(seed).join(", "), () => applyChanges(store, changes));
  for (const add of links) add();
}

/** Converts the rows of a state to a seed, for the entities that another model also has. */
export function seedOf(store: Store, next: Store): Seed {
  const kept = store.model.entities.filter(({ name }) => next.model.get(name) !== undefined);
  return Object.fromEntries(
    kept.map((entity) => {
      const relations = store.model.relationsOf(entity).filter(({ type }) => type === "manyToMany");
      const rows = [...store.table(entity).rows.values()].map((row) => {
        const linked = relations.map((relation) => {
          const targets = linksOf(store, relation, { ids: [row.id as string] }).map(({ target }) => target);
          return [`${relation.name}Ids`, targets] as const;
        });
        return { ...row, ...Object.fromEntries(linked) };
      });
      return [entity.name, rows];
    }),
  );
}

/** Converts problems of a seed to configuration errors. */
function explained<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isKeelsonError(error)) throw error;
    const { errors, fields } = error as { errors?: object; fields?: readonly string[] };
    const names = fields ?? Object.keys(errors ?? {});
    const where = names.length === 0 ? "" : ` (${names.join(", ")})`;
    throw new ConfigurationError(`the seed of ${what} does not fit: ${error.message}${where}`, { cause: error });
  }
}
