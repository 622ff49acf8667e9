import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import { InternalError } from "../../kernel/index.ts";
import { newOperation, ONE_BY_ONE, settled } from "../operation/new-operation.ts";
import { ACCESS, type Operation, type OperationInput } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { GateScope } from "../operation/runtime.ts";
import { giveTurn, inTurn } from "./brief-transaction.ts";
import { runOperation } from "./run-operation.ts";

/** Items in the order in which their records are changed: by id, with invalid ids last. */
export function inOrderOfIds<T>({ columns }: AnyEntity, items: readonly T[], idOf: (item: T) => string): T[] {
  const { kind } = columns.id as ColumnDefinition;
  const valid: T[] = [];
  const invalid: T[] = [];
  for (const item of items) (kind.accepts(idOf(item)) ? valid : invalid).push(item);
  return [...valid.sort((a, b) => kind.compare(idOf(a), idOf(b))), ...invalid];
}

/** An id as it is stored, such as a UUID in lower case; an invalid one is returned unchanged. */
function storedForm({ columns }: AnyEntity, id: string): string {
  const found = (columns.id as ColumnDefinition).kind.convert?.(id);
  return found?.ok === true ? String(found.value) : id;
}

/**
 * Runs an operation on several records: as one statement when no rule, hook or validator needs the individual records;
 * otherwise one at a time in a transaction, in the order of their ids. All such transactions lock in that order, and
 * `locksInOrder` drivers do so within a statement.
 * @throws InternalError when it is not an update or a delete
 */
export async function runSeveral(scope: GateScope, input: OperationInput, ids: readonly string[]): Promise<Operation> {
  const { entity, planOf } = scope.runtime.find(input.entity);
  if (input.kind !== "update" && input.kind !== "delete") throw new InternalError("ids are for updates and deletes");
  const distinct = inOrderOfIds(entity, [...new Set(ids.map((id) => storedForm(entity, id)))], (id) => id);
  // The total depends on each of them. Deleted ones cannot be read afterwards.
  if (input.kind === "update") for (const id of distinct) scope.state.shown?.note(entity, { id });
  const isPlain = input.set === undefined && (input.precondition ?? scope.state.precondition) === undefined;
  const { concurrentTransactions, locksInOrder } = scope.store.capabilities;
  const isSafe = !concurrentTransactions || locksInOrder === true;
  if (distinct.length > 1 && isPlain && isSafe && planOf(input.kind, input.access ?? ACCESS[input.kind]).takesSeveral) {
    try {
      return settled(await runOperation(scope, { ...input, ids: distinct, ifFound: true }));
    } catch (error) {
      if (error !== ONE_BY_ONE) throw error;
    }
  }
  const eachOfThem = async (inner: OperationScope): Promise<Operation> => {
    const all = newOperation(scope, entity, { ...input, ids: distinct });
    const ignored = new Set<string>();
    all.total = 0;
    const among = [...distinct]; // another list for each attempt, whose locks are taken once
    for (const id of distinct) {
      await giveTurn(inner);
      const one = await inner.run({ ...input, ids: undefined, id, among, ifFound: true });
      // Pairs and nested records are no columns.
      const isWritten = input.kind === "delete" || one.transactional || Object.keys(one.data).length > 0;
      if (one.applied && isWritten) all.total++;
      for (const name of one.ignored) ignored.add(name);
    }
    all.ignored.push(...ignored);
    return settled(all);
  };
  return inTurn(scope)(() => scope.transaction(eachOfThem));
}
