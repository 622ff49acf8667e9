import type { AnyEntity, EntityModel, ResolvedRelation } from "../../entity/index.ts";
import {
  compileWhere,
  type FurtherWrite,
  type HookFunction,
  isNestedWrite,
  type Operation,
  type OperationKind,
  type OperationScope,
  type PluginContext,
  type Row,
  seesRelation,
} from "../../gate/index.ts";
import { AuthorizationError, EntityNotFoundError, InternalError, RecordChangedError } from "../../kernel/index.ts";
import { Children } from "./children.ts";
import {
  byRelation,
  checkNested,
  type NestedWrite,
  nestedWritesOf,
  refuseUnversioned,
  stepsInOrder,
  wrong,
} from "./nested-input.ts";
import { assertStill, type Links, type Right, rightToRead } from "./pair-rights.ts";
import { type ByKey, type FoundByKey, findNested, type Path, runFollowing, runNested } from "./run-nested.ts";

type Data = Readonly<Record<string, unknown>>;

/**
 * Writes related records together with a record. Each is an operation with its own rules, validation and hooks, in the
 * transaction of the record. Records to which it refers are written before it, records that refer to it after it.
 * @param addPairs adds the hooks that store manyToMany pairs, given the pairs of nested writes. Pairs belong to the
 * record, so they are stored before the records that refer to it are written
 */
export function addNestedHooks(
  hooks: PluginContext["hooks"],
  model: EntityModel,
  addPairs: (pairsOf: (operation: Operation) => readonly Links[]) => void,
): void {
  const pairs = new WeakMap<Operation, readonly Links[]>();
  const further = new WeakMap<Operation, () => Promise<void>>();
  const appliesTo = (entity: AnyEntity, kind: OperationKind): boolean =>
    (kind === "create" || kind === "update") && Object.keys(entity.relations).length > 0;

  const take: HookFunction<"operation:normalize"> = (operation) => {
    const { entity, data, scope } = operation;
    const names = Object.keys(entity.relations).filter((name) => isNestedWrite(data[name]));
    const writes = names.flatMap((name) => {
      const value = data[name];
      delete data[name];
      return nestedWritesOf(writable(scope, model, entity, name), value);
    });
    if (writes.length === 0) return;
    if (operation.ids !== undefined) {
      operation.apart = true;
      return;
    }
    checkNested(model, writes, scope.app.limits);
    if (operation.principal.kind !== "system") for (const write of writes) refuseUnversioned(write);
    operation.transactional = true;
    if (operation.kind === "update" && writes.some(changesReferred))
      operation.whenDecidedAgain((_, further) => assertStillRead(operation, further));
    if (writes.some((write) => write.verb === "connectOrCreate" && !isAfter(write)))
      operation.whenDecidedAgain((again) => assertStillFound(operation, again));
    pairs.set(operation, planPairs(operation, writes));
    planReferences(operation, writes);
    const after = writes.filter(isAfter);
    if (after.length > 0) further.set(operation, () => runFollowing(operation, () => writeAfter(operation, after)));
  };
  // Registered late, so that checks of the stored record run before related records are changed.
  const takeFurther: HookFunction<"operation:protect"> = (operation) => {
    const after = further.get(operation);
    further.delete(operation); // the operation may be validated again
    if (after !== undefined) operation.whenWritten(after);
  };
  hooks.on("operation:normalize", take, { appliesTo });
  addPairs((operation) => pairs.get(operation) ?? []);
  hooks.on("operation:protect", takeFurther, { appliesTo });
}

/** A relation whose records this caller may write. A relation that the caller may not know of is an unknown name. */
function writable(scope: OperationScope, model: EntityModel, entity: AnyEntity, name: string): ResolvedRelation {
  const relation = model.relation(entity, name);
  if (relation === undefined || relation.remote !== undefined) throw wrong([name], "is not a field");
  if (scope.principal.kind === "system" || relation.foreignKey === undefined) return relation;
  const keeper = scope.access.mask(relation.type === "belongsTo" ? entity : relation.target);
  if (!seesRelation(scope, relation) || keeper.readablePerRow?.has(relation.foreignKey))
    throw wrong([name], "is not a field");
  return relation;
}

function isAfter(write: NestedWrite): boolean {
  const { type } = write.relation;
  return type === "hasMany" || type === "hasOne" || changesReferred(write);
}

/** Whether a write changes the record to which this one refers. */
function changesReferred({ relation, verb }: NestedWrite): boolean {
  return relation.type === "belongsTo" && verb === "update";
}

/** Plans writes of records to which this one refers. New ones are created before it, in its transaction. */
function planReferences(operation: Operation, writes: readonly NestedWrite[]): void {
  const own = writes.filter(({ relation, verb }) => relation.type === "belongsTo" && verb !== "update");
  for (const { relation, verb, items } of own) {
    const { name } = relation;
    const key = relation.foreignKey as string;
    if (operation.principal.kind !== "system" && !operation.scope.access.mask(operation.entity).writable.has(key))
      throw new AuthorizationError(`${name}.${verb}: "${key}" may not be written`);
    if (operation.data[key] !== undefined || own.filter((one) => one.relation === relation).length > 1)
      throw wrong([name], `is said more than once, with ${key} or another verb`);
    const [item] = items;
    if (verb === "create" || verb === "connectOrCreate")
      operation.whenBegun(async () => {
        operation.data[key] = await madeOrFound(operation, relation.target, verb, item, [name, verb]);
      });
    operation.data[key] = verb === "connect" ? item : null;
  }
}

/** Plans manyToMany pairs. New records are created before this one, in its transaction. */
function planPairs(operation: Operation, writes: readonly NestedWrite[]): readonly Links[] {
  return writes
    .filter(({ relation }) => relation.type === "manyToMany")
    .map(({ relation, verb, items }): Links => {
      const key = `${relation.name}.${verb}`;
      const mode = verb === "set" ? "set" : verb === "disconnect" ? "remove" : "add";
      if (verb !== "create" && verb !== "connectOrCreate") return { relation, key, mode, ids: items };
      const ids: string[] = [];
      operation.whenBegun(async () => {
        ids.length = 0;
        for (const [index, item] of items.entries()) {
          const path = [relation.name, verb, index];
          ids.push(await madeOrFound(operation, relation.target, verb, item, path));
        }
      });
      return { relation, key, mode, ids };
    });
}

/** The rights to read changed records whose references lead to further ones, by the record that an attempt has stored. */
const rightsToRead = new WeakMap<Row, readonly Right[]>();

/** Decides again on the right to read the record, as it is after its own change but before those of related records. */
async function assertStillRead({ records, scope }: Operation, further: readonly FurtherWrite[]): Promise<void> {
  const [record] = records;
  const rights = record && rightsToRead.get(record);
  if (rights !== undefined) await assertStill(scope, rights, further);
}

/** The id of a record that is created, or found by its key. */
async function madeOrFound(
  operation: Operation,
  entity: AnyEntity,
  verb: "create" | "connectOrCreate",
  item: unknown,
  path: Path,
): Promise<string> {
  const create = async (data: Data, to: Path, needed: readonly string[] = []): Promise<string> => {
    const { records } = await runNested(operation, to, { kind: "create", entity, data, idOnly: true }, needed);
    return String(records[0]?.id);
  };
  if (verb === "create") return create(item as Data, path);
  const byKey = item as ByKey;
  const found = await findNested(operation, path, entity, byKey);
  noteFound(operation, path, entity, found);
  return found?.id ?? create(byKey.create, [...path, "create"], Object.keys(byKey.where));
}

/** The records that an operation has found by their keys, by the paths in its input. */
const foundByKey = new WeakMap<Operation, Map<string, Right>>();

function noteFound(operation: Operation, path: Path, entity: AnyEntity, found: FoundByKey | undefined): void {
  const noted = foundByKey.get(operation) ?? new Map<string, Right>();
  foundByKey.set(operation, noted);
  const place = path.join(".");
  if (found === undefined) {
    noted.delete(place);
    return;
  }
  const { id, where } = found;
  const reasons = new Map([[id, compileWhere(operation.scope.app.model, entity, where)]]);
  noted.set(place, { entity, ids: [id], reasons, refusal: () => new RecordChangedError() });
}

/** @throws RecordChangedError if a record that was found by its key has another one by now */
async function assertStillFound(operation: Operation, writes: readonly FurtherWrite[]): Promise<void> {
  await assertStill(operation.scope, [...(foundByKey.get(operation)?.values() ?? [])], writes);
}

/**
 * Writes records that refer to the stored record, and changes records to which it refers. Relations are written in the
 * order of their names, and existing records in the order of their ids, so that concurrent requests lock them in the
 * same order. New records come last.
 */
async function writeAfter(operation: Operation, writes: readonly NestedWrite[]): Promise<void> {
  const [record] = operation.records;
  if (record === undefined) throw new InternalError("Related records are written after the record");
  const byName = byRelation(writes);
  // The id of the changed record reveals to which record this one refers.
  if (operation.kind === "update" && byName.some(([{ type }]) => type === "belongsTo"))
    rightsToRead.set(record, await rightToRead(operation.scope, operation.entity, String(record.id)));
  for (const [relation, own] of byName) {
    const { name, many, type, target } = relation;
    const key = relation.foreignKey as string;
    if (type === "belongsTo") {
      for (const { verb, items } of own) {
        if (typeof record[key] !== "string")
          throw new EntityNotFoundError(`${name}.${verb}: there is no ${target.name}`);
        const data = items[0] as Data;
        await runNested(operation, [name, verb], { kind: "update", entity: target, id: record[key], data });
      }
      continue;
    }
    const children = new Children(operation, relation, String(record.id));
    for (const { verb, item, index } of stepsInOrder(target, own))
      await (verb === "set"
        ? children.set(item as readonly unknown[])
        : children.write(verb, item, many ? [name, verb, index] : [name, verb]));
  }
}
