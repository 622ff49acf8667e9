import { setImmediate as nextTurn } from "node:timers/promises";
import { BadRequestError } from "../../kernel/index.ts";
import type { OperationScope, ScopeState } from "../operation/operation-scope.ts";
import type { GateScope, OperationRuntime } from "../operation/runtime.ts";
import { type TransactionSlots, transactionSlots } from "../statement/transaction-slots.ts";

/** Milliseconds after which a transaction composed by a caller may not start further steps that may wait. */
const WAITING_MS = 2_000;
/** Milliseconds after which such a transaction may not start further changes. */
const CHANGING_MS = 5_000;
/** Milliseconds after which other work of the process gets a turn, since an in-process database never yields. */
const STRETCH_MS = 25;

/** By app: transactions composed by callers use at most half of the connections. */
const slots = new WeakMap<OperationRuntime, TransactionSlots>();

/**
 * Wraps a transaction composed by a caller in a queue, so that other work finds connections and callers take turns.
 * Transactions of the system, and those that join another one, do not wait.
 */
export function inTurn(scope: OperationScope): <T>(transaction: () => Promise<T>) => Promise<T> {
  const { runtime, principal } = scope as GateScope;
  if (principal.kind === "system" || scope.isTransaction) return (transaction) => transaction();
  const known = slots.get(runtime) ?? transactionSlots(runtime.driver);
  slots.set(runtime, known);
  return (transaction) => known(transaction, principal.user?.id);
}

/** The start time of transactions composed by callers. */
const begun = new WeakMap<ScopeState, number>();

function heldMs(scope: OperationScope): number | undefined {
  const since = begun.get(scope.state);
  return since === undefined ? undefined : performance.now() - since;
}

/**
 * Call before each change of a transaction composed by a caller. It limits how long the transaction is held and how
 * long other work waits. Transactions of the system are not limited.
 * @param scope the transaction's scope
 * @throws BadRequestError when the transaction has been held for too long
 */
export async function holdBriefly(scope: OperationScope): Promise<void> {
  if (scope.principal.kind === "system") return;
  const held = heldMs(scope);
  if (held === undefined) begun.set(scope.state, performance.now());
  else if (held > CHANGING_MS) throw tooLong();
  await giveTurn(scope);
}

/** By transaction: when other work last had a turn. */
const given = new WeakMap<ScopeState, number>();

/** Call before each of many steps, so that other work of the process gets a turn regularly. */
export async function giveTurn(scope: OperationScope): Promise<void> {
  const last = given.get(scope.state);
  if (last !== undefined && performance.now() - last < STRETCH_MS) return;
  if (last !== undefined) await nextTurn();
  given.set(scope.state, performance.now());
}

/**
 * Call before a step that may wait, such as a queue. Returns the maximum time to wait.
 * @returns milliseconds; undefined for other transactions
 * @throws BadRequestError when the transaction has been held for too long
 */
export function waitBriefly(scope: OperationScope): number | undefined {
  const held = heldMs(scope);
  if (held !== undefined && held > WAITING_MS) throw tooLong();
  return held === undefined ? undefined : WAITING_MS;
}

function tooLong(): BadRequestError {
  return new BadRequestError("This takes too long to be done all at once; send fewer changes");
}
