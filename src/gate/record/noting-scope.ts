import type { Operation } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import { entityName } from "../statement/define-driver.ts";
import { presentSettled } from "./serialize.ts";

/** The scopes that notes are taken for, by the scope that takes them. */
const plainScopes = new WeakMap<OperationScope, OperationScope>();

/**
 * The scope of a handler whose response may depend on its operations in any form. What they read and write is noted,
 * so that a repeated response obeys the rights that the caller has then. Without a kept response it is the scope
 * itself.
 */
export function notingScope(scope: OperationScope): OperationScope {
  if (scope.state.shown === undefined || plainScopes.has(scope)) return scope;
  const own: Partial<OperationScope> = {
    run(input) {
      // Noted even if it fails: a response may say that there is no such record.
      const entity = scope.app.model.get(entityName(input.entity));
      if (entity !== undefined) scope.state.shown?.noteEntity(entity);
      return scope.run(input).then(noted);
    },
    transaction: (work, options) => scope.transaction((inner) => work(notingScope(inner)), options),
  };
  const noting = new Proxy(scope, {
    get(target, name) {
      const given: unknown = Reflect.get(Object.hasOwn(own, name) ? own : target, name);
      return typeof given === "function" ? given.bind(target) : given;
    },
  });
  plainScopes.set(noting, scope);
  return noting;
}

/** The scope without notes, for handlers whose response shows all records that it depends on. */
export function plainScope(scope: OperationScope): OperationScope {
  return plainScopes.get(scope) ?? scope;
}

async function noted(operation: Operation): Promise<Operation> {
  const { kind, entity, records, scope } = operation;
  const { shown } = scope.state;
  if (kind === "list" || kind === "count") shown?.noteCount(entity);
  if (kind !== "delete") await presentSettled(records, scope, false); // notes records at any depth
  await shown?.whenCounted?.(scope, shown.counted);
  return operation;
}
