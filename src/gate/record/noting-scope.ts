import type { AnyEntity } from "../../entity/index.ts";
import { ACCESS, type OperationInput } from "../operation/operation.ts";
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
      noteRead(shown, entity, input);
      let isDone = false;
      try {
        const operation = await scope.run(input);
        isDone = operation.applied && operation.total === (input.ids?.length ?? operation.total);
        if (operation.kind !== "delete") await presentSettled(operation.records, scope, false); // notes records at any depth
        await shown.whenCounted?.(scope, shown);
        return operation;
      } finally {
        if (!isDone) noteUnchanged(shown, entity, input);
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

/** Notes what a response depends on even if the operation fails: it may say that there is no such record. */
function noteRead(shown: ShownRecords, entity: AnyEntity, { kind, id, access = ACCESS[kind], rules }: OperationInput) {
  shown.noteEntity(entity);
  const finds = kind === "list" || kind === "count";
  const hasOwnRules = rules !== undefined || access !== "read";
  if (finds && !hasOwnRules) shown.noteCount(entity);
  else if (finds) shown.noteUses({ entity, access, rules, forSome: true, counts: true });
  else if (kind === "read" && hasOwnRules) shown.noteUses({ entity, id, access, rules });
}

/** Notes the records that a write has not changed; the others are noted with its result. */
function noteUnchanged(shown: ShownRecords, entity: AnyEntity, { kind, id, ids = [] }: OperationInput) {
  const isWrite = kind === "update" || kind === "delete";
  const asked = id === undefined ? ids : [id];
  if (isWrite) shown.noteUses(...asked.map((one) => ({ entity, id: one, access: "read" }) as const));
}
