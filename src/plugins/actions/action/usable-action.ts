import { type AnyEntity, isKeelsonError } from "../../../entity/index.ts";
import type { OperationScope } from "../../../gate/index.ts";
import { authorizeCollection } from "./authorize-action.ts";
import type { CompiledAction } from "./compile-action.ts";

// What documentation asks before it lists an action: whether the caller could ever use it.

/** Whether rules let the caller use an action. Those on records, and those whose operations decide, are asked with their route. */
export async function mayUseAction(action: CompiledAction, scope: OperationScope): Promise<boolean> {
  if (action.onResource || action.definition.authorizes === "operations") return true;
  return passes(() => authorizeCollection(action, scope));
}

/** Whether the caller may read single records of an entity, some or all; for the system, whether any caller may. */
export async function mayReadSome(scope: OperationScope, entity: AnyEntity): Promise<boolean> {
  if (scope.principal.kind === "system") return entity.rules === undefined || (entity.rules.read ?? []).length > 0;
  return passes(() => scope.decide({ kind: "read", entity }));
}

/** Whether an action may set a field for the caller: its rules count, `.readonly()` does not. */
export function maySet(scope: OperationScope, entity: AnyEntity, field: string): boolean {
  return entity.fields[field]?.writable === undefined || scope.mask(entity).writable.has(field);
}

async function passes(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (isKeelsonError(error) && (error.status === 401 || error.status === 403)) return false;
    throw error;
  }
}
