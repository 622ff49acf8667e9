import { setImmediate as nextTurn } from "node:timers/promises";
import { BadRequestError } from "../../kernel/index.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { GateScope, OperationRuntime } from "../operation/runtime.ts";
import { type TransactionSlots, transactionSlots } from "../statement/transaction-slots.ts";

/** Milliseconds after which a transaction of a caller's making takes nothing further that may wait for something else. */
const WAITING_MS = 2_000;
/** The same for changes. */
const CHANGING_MS = 5_000;
/** Milliseconds after which the process does something else in between: a database in the process answers without a pause. */
const STRETCH_MS = 25;

/** By app: half of its connections at most are held by transactions whose length callers choose. */
const slots = new WeakMap<OperationRuntime, TransactionSlots>();

/**
 * What stands around such a transaction, so that other work finds connections, and each caller a turn. The system's does not
 * wait, nor does one that joins another.
 */
export function inTurn(scope: OperationScope): <T>(transaction: () => Promise<T>) => Promise<T> {
  const { runtime, principal } = scope as GateScope;
  if (principal.kind === "system" || scope.isTransaction) return (transaction) => transaction();
  const known = slots.get(runtime) ?? transactionSlots(runtime.driver);
  slots.set(runtime, known);
  return (transaction) => known(transaction, principal.user?.id);
}

/** Transactions whose length a caller has chosen, by what they have put into it, and when that began. */
const begun = new WeakMap<OperationScope, number>();

function heldMs(scope: OperationScope): number | undefined {
  const since = begun.get(scope);
  return since === undefined ? undefined : performance.now() - since;
}

/**
 * Call before each change of a transaction that a caller has put together, so that no caller chooses how long it is held, or how
 * long nothing else is done. The system may hold one for as long as its work takes.
 * @param scope the transaction's
 * @throws BadRequestError where it has been held for long
 */
export async function holdBriefly(scope: OperationScope): Promise<void> {
  if (scope.principal.kind === "system") return;
  const held = heldMs(scope);
  if (held === undefined) begun.set(scope, performance.now());
  else if (held > CHANGING_MS) throw tooLong();
  await giveTurn(scope);
}

/** By transaction: when others last had their turn. */
const given = new WeakMap<OperationScope, number>();

/** Call before each of many steps, so that the process does something else now and then. */
export async function giveTurn(scope: OperationScope): Promise<void> {
  const last = given.get(scope);
  if (last !== undefined && performance.now() - last < STRETCH_MS) return;
  if (last !== undefined) await nextTurn();
  given.set(scope, performance.now());
}

/**
 * Call before something that may wait, such as a queue. Says for how long it may.
 * @returns milliseconds; undefined for what is no such transaction
 * @throws BadRequestError where it has been held for long
 */
export function waitBriefly(scope: OperationScope): number | undefined {
  const held = heldMs(scope);
  if (held !== undefined && held > WAITING_MS) throw tooLong();
  return held === undefined ? undefined : WAITING_MS;
}

function tooLong(): BadRequestError {
  return new BadRequestError("This takes too long to be done all at once; send fewer changes");
}
