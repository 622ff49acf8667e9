import {
  type AnyEntity,
  type ColumnDefinition,
  type EntityModel,
  isKeelsonError,
  type KeelsonError,
  referring,
} from "../../entity/index.ts";
import {
  decideAgain,
  entitiesInRule,
  type FurtherWrite,
  findByKey,
  holdBriefly,
  keyValue,
  type Operation,
  type OperationInput,
  type OperationScope,
  type PairChange,
  pairsChangedBy,
  type Row,
  type Where,
} from "../../gate/index.ts";
import { AuthorizationError, ValidationFailedError } from "../../kernel/index.ts";
import { wrong } from "./nested-input.ts";

/** The place of a value in the input. */
export type Path = readonly (string | number)[];

/**
 * Runs a nested operation. Its errors get the path of the nested input, and its ignored fields, too, without the
 * index of the item.
 * @param needed fields without which the write makes no sense
 * @throws AuthorizationError if the caller may not write one of them
 */
export function runNested(
  operation: Operation,
  path: Path,
  input: OperationInput,
  needed: readonly string[] = [],
): Promise<Operation> {
  return inPath(operation, path, async (scope) => {
    const done = await runNoted(scope, input);
    const refused = needed.find((name) => done.ignored.includes(name));
    if (refused !== undefined) throw new AuthorizationError(`"${refused}" may not be written`);
    for (const name of done.ignored) noteIgnored(operation, [...path, name]);
    return done;
  });
}

/** Notes an ignored field once, however many items have it. */
function noteIgnored({ ignored }: Operation, path: Path): void {
  const place = path.filter((step) => typeof step === "string").join(".");
  if (!ignored.includes(place)) ignored.push(place);
}

/** Writes of related records that follow the statement of a record. */
interface Following {
  /** The entities of records on which the rule of the record depends. */
  readonly entities: readonly AnyEntity[];
  readonly writes: FurtherWrite[];
}

/** Operations of one transaction may be nested in each other. */
const followings = new WeakMap<OperationScope, readonly Following[]>();

/**
 * Runs writes of related records that follow the statement of a record. They may wait for other transactions, so the
 * record is decided again after them, as if they had not been made.
 * @throws what `decideAgain` throws
 */
export async function runFollowing(operation: Operation, work: () => Promise<void>): Promise<void> {
  const { scope } = operation;
  if (!scope.driver.capabilities.concurrentTransactions) return work();
  const outer = followings.get(scope) ?? [];
  const writes: FurtherWrite[] = [];
  followings.set(scope, [...outer, { entities: entitiesInRule(operation), writes }]);
  try {
    await work();
  } finally {
    followings.set(scope, outer);
  }
  await decideAgain(operation, writes);
}

/**
 * Runs a write, and notes it if the rule of a record depends on such records. It is noted before the writes that
 * are nested in it, because its statement comes first.
 */
async function runNoted(scope: OperationScope, input: OperationInput): Promise<Operation> {
  const { kind, id } = input;
  const entity = input.entity as AnyEntity;
  const isDeletion = kind === "delete";
  const changed = isDeletion ? [entity, ...changedByDeletion(scope.app.model, entity)] : [entity];
  const noting = (followings.get(scope) ?? []).filter(({ entities }) => changed.some((one) => entities.includes(one)));
  const isNew = kind === "create";
  const isStored = id !== undefined && (kind === "update" || kind === "delete");
  if (noting.length === 0 || !(isNew || isStored)) return scope.run(input);
  // Locked, so that a change that others make meanwhile does not count as a part of this write.
  const before = isNew
    ? null
    : await scope.driver.findOne(entity, { id }, { lock: kind === "delete" ? "delete" : true });
  const further = before !== null && isDeletion ? await collectDeletion(scope, entity, before) : [];
  const places = noting.map(({ writes }) => [writes, writes.length] as const);
  const note = (of: unknown, pairs?: readonly PairChange[]): void => {
    for (const [writes, place] of places) writes[place] = { entity, id: of, before, pairs };
  };
  if (isNew || before !== null) note(id, further[0]?.pairs);
  for (const [writes] of places) writes.push(...further.slice(1));
  const done = await scope.run(input);
  if (isNew) note(done.records[0]?.id);
  else if (before !== null && kind === "update") note(id, pairsChangedBy(done));
  return done;
}

/** The entities whose records the database deletes or changes when a record is deleted. */
function changedByDeletion(model: EntityModel, entity: AnyEntity): ReadonlySet<AnyEntity> {
  const deleted = new Set([entity]);
  const changed = new Set<AnyEntity>();
  for (const target of deleted)
    for (const { source, onDelete } of referring(model, target)) {
      if (onDelete === "cascade") deleted.add(source);
      if (onDelete === "cascade" || onDelete === "setNull") changed.add(source);
    }
  return changed;
}

/**
 * Collects a deletion as writes: the record itself first, then those that the database deletes or changes with it. Large
 * deletions are cut off at the limit of a bulk request.
 */
async function collectDeletion(
  scope: OperationScope,
  entity: AnyEntity,
  before: Row,
  found: FurtherWrite[] = [],
): Promise<readonly FurtherWrite[]> {
  const { app, driver } = scope;
  found.push({ entity, id: before.id, before, pairs: await pairsOf(scope, entity, before) });
  for (const { source, foreignKey, onDelete } of referring(app.model, entity)) {
    if (onDelete !== "cascade" && onDelete !== "setNull") continue;
    const limit = app.limits.bulk - found.length;
    if (limit <= 0) return found;
    for (const row of await driver.findMany(source, { where: { [foreignKey as string]: before.id }, limit })) {
      if (found.some((one) => one.entity === source && one.id === row.id)) continue;
      if (onDelete === "cascade") await collectDeletion(scope, source, row, found);
      else found.push({ entity: source, id: row.id, before: row });
    }
  }
  return found;
}

/** The pairs of a record, which end with it. */
async function pairsOf({ app, driver }: OperationScope, entity: AnyEntity, { id }: Row): Promise<PairChange[]> {
  const { model } = app;
  const limit = app.limits.bulk;
  const pairs: PairChange[] = [];
  for (const relation of model.entities.flatMap((one) => model.relationsOf(one))) {
    const { name, type, source, target, inverse } = relation;
    if (type !== "manyToMany" || relation.remote !== undefined) continue;
    if (source === entity) {
      const links = await driver.links(entity, name, [String(id)], { limit });
      pairs.push({ relation, added: [], removed: links.map((link) => link.target) });
    }
    if (target === entity && inverse === undefined) {
      // Only the other end declares it: the same relation, seen from here.
      const others = await driver.findMany(source, { where: { [name]: { id } }, select: ["id"], limit });
      const swapped = { ...relation, source: target, target: source, inverse: name };
      pairs.push({ relation: swapped, added: [], removed: others.map((other) => String(other.id)) });
    }
  }
  return pairs;
}

/** A unique key of a record, and the data to create it with if the caller sees no such record. */
export interface ByKey {
  readonly where: Readonly<Record<string, unknown>>;
  readonly create: Readonly<Record<string, unknown>>;
}

/** A record that was found by its key. */
export interface FoundByKey {
  readonly id: string;
  /** What the record must still meet when it is used. */
  readonly where: Where;
}

/**
 * Finds the record with a key; undefined if it has to be created.
 * @throws ValidationFailedError if the new record's key differs
 */
export async function findNested(
  operation: Operation,
  path: Path,
  target: AnyEntity,
  { where, create }: ByKey,
): Promise<FoundByKey | undefined> {
  const names = Object.keys(where);
  const found = await inPath(operation, [...path, "where"], (scope) => findByKey(scope, target, names, where));
  for (const name of names) {
    const column = target.columns[name] as ColumnDefinition;
    const given = create[name] ?? undefined;
    const isSame =
      given !== undefined && column.kind.compare(keyValue(column, given), keyValue(column, where[name])) === 0;
    if (!isSame) throw wrong([...path, "create", name], 'must be the value that "where" has');
  }
  return found;
}

async function inPath<T>({ scope }: Operation, path: Path, work: (scope: OperationScope) => Promise<T>): Promise<T> {
  try {
    await holdBriefly(scope);
    return await work(scope);
  } catch (error) {
    throw isKeelsonError(error) ? at(path, error) : error;
  }
}

/** Adds a path to an error. */
export function at(path: Path, error: KeelsonError): KeelsonError {
  if ("issues" in error) {
    const { issues } = error as ValidationFailedError;
    return new ValidationFailedError(
      issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] })),
      error.message,
    );
  }
  if (error.status < 500) error.message = `${path.join(".")}: ${error.message}`;
  return error;
}
