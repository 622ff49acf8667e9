import type { ColumnDefinition } from "../../entity/index.ts";
import { InternalError } from "../../kernel/index.ts";
import { newOperation, ONE_BY_ONE, settled } from "../operation/new-operation.ts";
import { ACCESS, type Operation, type OperationInput } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { GateScope } from "../operation/runtime.ts";
import { giveTurn, inTurn } from "./brief-transaction.ts";
import { runOperation } from "./run-operation.ts";

/** An id as it is in code; undefined for a text that is not valid: no record has it. */
function idIn(kind: ColumnDefinition["kind"], text: string): string | undefined {
  const read = kind.parse(text);
  return read.ok ? (read.value as string) : undefined;
}

/**
 * Runs an operation on several records: as one statement when no rule, hook or validator needs the individual records.
 * Otherwise one after the other in a transaction, in the order of their ids: all such transactions lock in that order,
 * and `locksInOrder` drivers do so within a statement.
 * @throws InternalError when it is not an update or a delete
 */
export async function runSeveral(scope: GateScope, input: OperationInput, ids: readonly string[]): Promise<Operation> {
  const { entity, planOf } = scope.runtime.find(input.entity);
  if (input.kind !== "update" && input.kind !== "delete") throw new InternalError("ids are for updates and deletes");
  const { kind } = entity.columns.id as ColumnDefinition;
  const distinct = [...new Set(ids.flatMap((id) => idIn(kind, id) ?? []))].sort(kind.compare);
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
    for (const id of distinct) {
      await giveTurn(inner);
      const one = await inner.run({ ...input, ids: undefined, id, ifFound: true });
      if (one.applied && (input.kind === "delete" || Object.keys(one.data).length > 0)) all.total++;
      for (const name of one.ignored) ignored.add(name);
    }
    all.ignored.push(...ignored);
    return settled(all);
  };
  return inTurn(scope)(() => scope.transaction(eachOfThem));
}
