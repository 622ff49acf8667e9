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
 * `DELETE /:id/soft` marks a record as deleted, by the rules of delete (spec 4.2). Once more is fine and does not move
 * the time.
 * @param fieldName optional datetime field that holds the time @default that of `.softDelete()`, or "deletedAt"
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
 * `POST /:id/restore` takes a soft deletion back, by the rules of update (spec 4.2).
 * @param fieldName optional datetime field that holds the time of deletion @default that of `.softDelete()`, or "deletedAt"
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

/** What both actions say of themselves. */
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

/** What is wrong with it, as the end of a sentence; undefined when nothing is. */
function deletionProblem(entity: AnyEntity, given: string | undefined): string | undefined {
  const { softDelete } = entity;
  const field = deletionField(entity, given);
  if (softDelete !== undefined && softDelete.field !== field)
    return `works on "${field}", but records are deleted by "${softDelete.field}", as .softDelete() says`;
  return columnProblem(entity, field, { kind: "datetime", optional: true });
}

/** Whose rules say which deleted records a caller may see. */
type Restore = Pick<OperationInput, "access" | "rules">;

/** Without an action of its own, a caller who may change a record may restore it. */
const UPDATE: Restore = Object.freeze({ access: "update" });
/** The question to these rules: about records that are there and deleted ones alike. */
const ANY: OperationQuery = Object.freeze({ deleted: "with" });

/**
 * Hides records that are softly deleted, on entities that ask for it: they are not there for any operation. Lists, reads
 * and counts that want them get those that their caller may restore; whether updates and deletes reach them is up to code.
 * @param actions all actions of the app; those that restore bring the rules for it
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

/** A deleted record is there only for callers that the rules allow to change it: others are not told of it. */
function requireReached(operation: PolicyQuestion, field: string): void {
  const deleted: Where = { [field]: { null: false } };
  if (operation.query.deleted === "only") operation.require(deleted);
  operation.decision.missing = deleted;
}

function fieldOf({ softDelete }: AnyEntity): string {
  return (softDelete as NonNullable<AnyEntity["softDelete"]>).field;
}

/**
 * Shows what any of the actions restores.
 * @throws AuthenticationError, AuthorizationError to those who may restore nothing
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
