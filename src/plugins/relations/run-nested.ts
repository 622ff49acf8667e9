import { type AnyEntity, type ColumnDefinition, isKeelsonError, type KeelsonError } from "../../entity/index.ts";
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
} from "../../gate/index.ts";
import { AuthorizationError, ValidationFailedError } from "../../kernel/index.ts";
import { wrong } from "./nested-input.ts";

/** The place of a value in the input. */
export type Path = readonly (string | number)[];

/**
 * Runs a nested operation. Its errors and ignored fields get the path of the nested input.
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
    for (const name of done.ignored) operation.ignored.push([...path, name].join("."));
    return done;
  });
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
  const { kind, entity, id } = input;
  const noting = (followings.get(scope) ?? []).filter(({ entities }) => entities.includes(entity as AnyEntity));
  const isNew = kind === "create";
  const isStored = id !== undefined && (kind === "update" || kind === "delete");
  if (noting.length === 0 || !(isNew || isStored)) return scope.run(input);
  // Locked, so that a change that others make meanwhile does not count as a part of this write.
  const lock = kind === "delete" ? "delete" : true;
  const before = isNew ? null : await scope.driver.findOne(entity, { id }, { lock });
  const places = noting.map(({ writes }) => [writes, writes.length] as const);
  const note = (of: unknown, pairs?: readonly PairChange[]): void => {
    for (const [writes, place] of places) writes[place] = { entity: entity as AnyEntity, id: of, before, pairs };
  };
  if (isNew || before !== null) note(id);
  const done = await scope.run(input);
  if (isNew) note(done.records[0]?.id);
  else if (before !== null) note(id, pairsChangedBy(done));
  return done;
}

/** A unique key of a record, and the data to create it with if the caller sees no such record. */
export interface ByKey {
  readonly where: Readonly<Record<string, unknown>>;
  readonly create: Readonly<Record<string, unknown>>;
}

/**
 * The id of the record with a key; undefined if it has to be created.
 * @throws ValidationFailedError if the new record's key differs
 */
export async function findNested(
  operation: Operation,
  path: Path,
  target: AnyEntity,
  { where, create }: ByKey,
): Promise<string | undefined> {
  const names = Object.keys(where);
  const id = await inPath(operation, [...path, "where"], (scope) => findByKey(scope, target, names, where));
  for (const name of names) {
    const column = target.columns[name] as ColumnDefinition;
    const given = create[name] ?? undefined;
    const isSame =
      given !== undefined && column.kind.compare(keyValue(column, given), keyValue(column, where[name])) === 0;
    if (!isSame) throw wrong([...path, "create", name], 'must be the value that "where" has');
  }
  return id;
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
