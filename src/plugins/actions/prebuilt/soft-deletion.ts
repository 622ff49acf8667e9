import type { AnyEntity } from "../../../entity/index.ts";
import {
  allOf,
  type OperationInput,
  type OperationQuery,
  type PluginContext,
  type PolicyQuestion,
  type Where,
} from "../../../gate/index.ts";
import { AuthenticationError, AuthorizationError, BadRequestError } from "../../../kernel/index.ts";
import { ActionBuilder, type PlainShape } from "../action/action-builder.ts";
import type { ActionDefinition } from "../action/action-definition.ts";
import type { CompiledAction } from "../action/compile-action.ts";
import { SUCCESS } from "../action/describe-action.ts";
import { columnProblem } from "./flag-actions.ts";

type DeletionAction = ActionBuilder<PlainShape<{ readonly success: true }, true>>;

/**
 * `DELETE /:id/soft` marks a record as deleted, by the rules of delete (spec 4.2). Deleting it again succeeds and keeps
 * the first time.
 * @param fieldName optional datetime field that holds the time @default the field of `.softDelete()`, or "deletedAt"
 */
export function softDeleteAction(fieldName?: string): DeletionAction {
  return new ActionBuilder({
    ...shared(fieldName),
    method: "DELETE",
    path: "/:id/soft",
    description: "Marks the record as deleted",
    deletesBy: (entity) => deletionField(entity, fieldName),
    async handler({ scope, entity, params, rules }) {
      const field = deletionField(entity, fieldName);
      const change = {
        set: { [field]: scope.app.now() },
        when: { [field]: null },
        query: { deleted: "with" },
      } as const;
      await scope.run({ kind: "update", entity, id: params.id, access: "delete", rules, ...change });
      return { success: true };
    },
  });
}

/**
 * `POST /:id/restore` undoes a soft deletion, by the rules of update (spec 4.2).
 * @param fieldName optional datetime field that holds the time of deletion @default the field of `.softDelete()`, or
 * "deletedAt"
 */
export function restoreAction(fieldName?: string): DeletionAction {
  return new ActionBuilder({
    ...shared(fieldName),
    method: "POST",
    path: "/:id/restore",
    description: "Takes a soft deletion back",
    restores: true,
    async handler({ scope, entity, params, rules }) {
      const field = deletionField(entity, fieldName);
      const change = {
        set: { [field]: null },
        when: { [field]: { null: false } },
        query: { deleted: "with" },
      } as const;
      await scope.run({ kind: "update", entity, id: params.id, rules, ...change });
      return { success: true };
    },
  });
}

/** Settings that both actions share. */
function shared(fieldName: string | undefined) {
  return {
    query: {},
    readsBody: false,
    authorizes: "operations",
    transactional: true,
    check: (entity) => deletionProblem(entity, fieldName),
    describe: () => ({ answers: SUCCESS, errors: [404, 409] }),
  } satisfies Partial<ActionDefinition>;
}

function deletionField({ softDelete }: AnyEntity, given: string | undefined): string {
  return given ?? softDelete?.field ?? "deletedAt";
}

/** The problem with the field, as the end of a sentence; undefined when it is suitable. */
function deletionProblem(entity: AnyEntity, given: string | undefined): string | undefined {
  const { softDelete } = entity;
  const field = deletionField(entity, given);
  if (softDelete !== undefined && softDelete.field !== field)
    return `works on "${field}", but records are deleted by "${softDelete.field}", as .softDelete() says`;
  return columnProblem(entity, field, { kind: "datetime", optional: true });
}

/** The access or rules that decide which deleted records a caller may see. */
type Restore = Pick<OperationInput, "access" | "rules">;

/** Without a restore action, a caller who may change a record may restore it. */
const UPDATE: Restore = Object.freeze({ access: "update" });
/** The query for these rules: about live and deleted records alike. */
const ANY: OperationQuery = Object.freeze({ deleted: "with" });

/**
 * Hides soft-deleted records from all operations on entities with `.softDelete()`. Lists, reads and counts with
 * `deleted` include the deleted records that their caller may restore. Updates and deletes reach them if their code
 * asks for it.
 * @param actions all actions of the app; restoring actions contribute their rules
 */
export function addSoftDeletePolicy({ records }: PluginContext, actions: readonly CompiledAction[]): void {
  const restores = new Map<AnyEntity, Restore[]>();
  for (const action of actions)
    if (action.definition.restores === true)
      restores.set(action.entity, [...(restores.get(action.entity) ?? []), action]);
  const visible = (operation: PolicyQuestion): void | Promise<void> => {
    const { entity, query } = operation;
    if (query === ANY) return;
    const field = fieldOf(entity);
    switch (query.deleted) {
      case undefined:
        return operation.require({ [field]: null });
      case "with":
      case "only":
        if (operation.kind === "update" || operation.kind === "delete") return requireReached(operation, field);
        return showRestorable(operation, restores.get(entity) ?? [UPDATE]);
      default:
        throw new BadRequestError('"deleted" takes the values with and only.');
    }
  };
  records.policy({ name: "soft-delete", appliesTo: ({ softDelete }) => softDelete !== undefined, visible });
}

/** Callers without the right to change a deleted record get the error for missing records. */
function requireReached(operation: PolicyQuestion, field: string): void {
  const deleted: Where = { [field]: { null: false } };
  if (operation.query.deleted === "only") operation.require(deleted);
  operation.decision.missing = deleted;
}

function fieldOf({ softDelete }: AnyEntity): string {
  return (softDelete as NonNullable<AnyEntity["softDelete"]>).field;
}

/**
 * Shows the deleted records that any of the actions may restore.
 * @throws AuthenticationError, AuthorizationError for callers who may restore nothing
 */
async function showRestorable(operation: PolicyQuestion, restores: readonly Restore[]): Promise<void> {
  const { entity, query, scope } = operation;
  const field = fieldOf(entity);
  const parts: (Where | undefined)[] = [];
  let refusal: unknown;
  for (const { access, rules } of restores) {
    try {
      const { predicate } = await scope.access.decide({ kind: "list", entity, access, rules, query: ANY });
      parts.push(predicate); // undefined for all records
    } catch (error) {
      if (!(error instanceof AuthorizationError || error instanceof AuthenticationError)) throw error;
      refusal = error;
    }
  }
  if (parts.length === 0) throw refusal;
  const restorable = parts.includes(undefined) ? undefined : { OR: parts as Where[] };
  if (query.deleted === "only") operation.require(allOf({ [field]: { null: false } }, restorable));
  else if (restorable !== undefined) operation.require({ OR: [{ [field]: null }, restorable] });
}
