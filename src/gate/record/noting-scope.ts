import type { AnyEntity } from "../../entity/index.ts";
import { ACCESS, type Operation, type OperationInput } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { ShownRecords } from "../operation/shown-records.ts";
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
    async run(input) {
      const { shown } = scope.state;
      const entity = scope.app.model.get(entityName(input.entity));
      if (shown === undefined || entity === undefined) return scope.run(input);
      // Noted even if it fails: a response may say that there is no such record.
      shown.noteEntity(entity);
      try {
        const operation = await scope.run(input);
        noteUses(shown, entity, input, operation);
        if (operation.kind !== "delete") await presentSettled(operation.records, scope, false); // notes records at any depth
        await shown.whenCounted?.(scope, shown);
        return operation;
      } catch (error) {
        noteUses(shown, entity, input, undefined);
        throw error;
      }
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

/** Notes what an operation depends on besides the records in its result. @param done undefined if it failed */
function noteUses(shown: ShownRecords, entity: AnyEntity, input: OperationInput, done: Operation | undefined): void {
  const { kind, id, ids, access = ACCESS[kind], rules } = input;
  if (kind === "update" || kind === "delete") {
    const isDone = done?.applied === true && done.total === (ids?.length ?? done.total);
    if (!isDone) for (const one of ids ?? [id]) shown.noteUses({ entity, id: one, access: "read" });
  } else if (kind !== "create" && done !== undefined) {
    const { deleted } = done.query;
    const finds = kind !== "read";
    const isPlain = rules === undefined && access === "read" && deleted === undefined;
    if (finds) shown.noteCount(entity);
    if (!isPlain) shown.noteUses({ entity, id, access, rules, deleted, ...(finds && { forSome: true, counts: true }) });
  }
}
