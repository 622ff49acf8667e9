import { type Access, type AnyEntity, isKeelsonError } from "../../../entity/index.ts";
import type { OperationInput, OperationKind, OperationScope, RecordUse } from "../../../gate/index.ts";
import { AuthenticationError, AuthorizationError, EntityNotFoundError } from "../../../kernel/index.ts";
import type { ActionRecord } from "./action-definition.ts";
import type { CompiledAction } from "./compile-action.ts";

/** What an action may be used for. */
interface Allowed {
  /** Of an action that is about one; null when its own operations load it, and for all others. */
  readonly record: ActionRecord | null;
  /** Undefined where its operations decide. */
  readonly use?: RecordUse | undefined;
}

/**
 * Asks an action's rules before anything is read of a request.
 * @throws AuthenticationError, AuthorizationError, EntityNotFoundError
 */
export async function authorizeAction(
  action: CompiledAction,
  scope: OperationScope,
  params: Readonly<Record<string, string>>,
): Promise<Allowed> {
  const { entity, access, rules, onResource, definition } = action;
  if (definition.authorizes !== "operations")
    return onResource ? recordFor(action, scope, params.id as string) : authorizeCollection(action, scope);
  // The operations' own statements decide, and say what is wrong. Here those are turned away whom no record would help.
  await scope.decide({ kind: decidedAs(access, onResource), entity, access, rules });
  if (onResource && definition.takesAnyId !== true) refuseLongId(params.id as string, scope);
  return { record: null };
}

function decidedAs(access: Access, onResource: boolean): OperationKind {
  if (access === "create") return "create"; // the rules are about the new record, also where it is made of another one
  if (onResource) return "read";
  return access === "read" ? "list" : "update";
}

async function recordFor(
  { entity, access, rules }: CompiledAction,
  scope: OperationScope,
  id: string,
): Promise<Allowed> {
  const input: OperationInput = { kind: "read", entity, id, access, rules, query: () => refuseLongId(id, scope) };
  const { records } = await scope.run(input);
  const use: RecordUse = { entity, id, access, rules };
  scope.shown?.uses.push(use);
  return { record: records[0] as ActionRecord, use };
}

/**
 * Asks the rules of an action that is about no record.
 * @throws AuthenticationError, AuthorizationError
 */
export async function authorizeCollection(
  { entity, access, rules }: CompiledAction,
  scope: OperationScope,
): Promise<Allowed> {
  // Rules of its own are about the action: there is no record that they could pass for, nor one that is being created.
  const isOwn = rules !== undefined;
  const kind = access === "create" && !isOwn ? "create" : "list";
  const asked = { kind, entity, access, rules } as const;
  const { forSome } = await scope.decide(asked);
  // A handler that reads is for callers who may read some records; what it shows of them is up to it.
  const takesSome = access === "read" && !isOwn;
  const use: RecordUse = { ...asked, forSome: takesSome };
  scope.shown?.uses.push(use);
  if (!forSome || takesSome) return { record: null, use };
  throw scope.principal.kind === "anonymous" ? new AuthenticationError() : new AuthorizationError();
}

/** No record has a longer id than the limit, so it is missing. */
function refuseLongId(id: string, scope: OperationScope): Record<never, never> {
  if (id === "" || id.length > scope.limits.idLength) throw new EntityNotFoundError();
  return {};
}

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
