import { ConflictError, RecordChangedError, UnavailableError } from "../errors/errors.ts";
import { describeError } from "../errors/handle-error.ts";
import { type Hook, runHooks } from "../hooks/hook-registry.ts";
import { stripUnselected } from "../records/strip-unselected.ts";
import { tagRecord } from "../records/tag-record.ts";
import { checkQuery } from "../where/check-query.ts";
import { withholdUnreadable } from "../where/withhold-unreadable.ts";
import { deniedError } from "./denied.ts";
import { runCount, runList, runRead } from "./execute-read.ts";
import { recheck, runCreate, runDelete, runUpdate } from "./execute-write.ts";
import { inTransaction } from "./in-transaction.ts";
import { type MutableOperation, newOperation } from "./new-operation.ts";
import type { Operation, OperationInput, OperationKind } from "./operation.ts";
import type { RequestScope } from "./request-scope.ts";
import type { OperationPlan } from "./runtime.ts";

const EXECUTORS: Readonly<Record<OperationKind, (operation: MutableOperation) => Promise<void>>> = {
  create: runCreate,
  list: runList,
  read: runRead,
  count: runCount,
  update: runUpdate,
  delete: runDelete,
};

/** A record that changes under the eyes of rules and validators again and again is given up on. */
const ATTEMPTS = 3;

/**
 * Runs one operation through all phases, in order (architecture.md 3.4).
 * @throws whatever a phase throws: 400, 401, 403, 404, 409, 503
 */
export async function runOperation(scope: RequestScope, input: OperationInput): Promise<Operation> {
  const { runtime } = scope;
  const { entity, plans } = runtime.find(input.entity);
  const plan = plans[input.kind];
  const operation = newOperation(scope, entity, input);

  const isSystem = scope.principal.kind === "system";
  if (isSystem) operation.decision.allowed = true;
  else await settle(plan.authorize, operation);
  if (!operation.decision.allowed) throw deniedError(operation, runtime.production);

  const { query, data } = input;
  if (query !== undefined) operation.query = typeof query === "function" ? await query(operation) : query;
  if (!isSystem && query !== undefined) operation.query = await checkQuery(operation, input.bounded);
  if (data !== undefined) operation.data = { ...(typeof data === "function" ? await data(operation) : data) };

  await settle(plan.normalize, operation);
  await validateAndExecute(plan, operation);
  if (data !== undefined && !isSystem) await withholdUnreadable(operation);
  for (const record of operation.records) tagRecord(entity, record);
  await settle(plan.reveal, operation);
  await settle(plan.join, operation);
  stripUnselected(operation);
  await settle(plan.redact, operation);
  if (plan.committed.length > 0) await scope.whenCommitted((outermost) => announce(plan, operation, outermost));
  return operation;
}

/** Runs a phase; without hooks, or with synchronous ones only, there is nothing to wait for. */
function settle(hooks: readonly Hook<Operation>[], operation: MutableOperation): void | Promise<void> {
  return hooks.length === 0 ? undefined : runHooks(hooks, operation);
}

/** Again from what was submitted, when the record is no longer what a rule or a validator saw. */
async function validateAndExecute(plan: OperationPlan, operation: MutableOperation): Promise<void> {
  const submitted = operation.data;
  for (let attempt = 1; ; attempt++) {
    operation.data = { ...submitted };
    operation.expected = undefined;
    await settle(plan.validate, operation);
    await settle(plan.protect, operation);
    if (operation.scope.isExpired) throw new UnavailableError("The request took too long");
    try {
      if (operation.transactional) await inTransaction(operation, () => execute(plan, operation));
      else await execute(plan, operation);
      return;
    } catch (error) {
      if (!(error instanceof RecordChangedError) || attempt === ATTEMPTS) throw error;
    }
  }
}

async function execute(plan: OperationPlan, operation: MutableOperation): Promise<void> {
  try {
    await EXECUTORS[operation.kind](operation);
    await settle(plan.execute, operation);
    if (operation.transactional) await recheck(operation);
  } catch (error) {
    throw error instanceof ConflictError ? onlyWhatWasSent(error, operation) : error;
  }
}

/** A conflict names the fields the caller sent, and no others: those would tell about records the caller cannot see. */
function onlyWhatWasSent(error: ConflictError, operation: MutableOperation): ConflictError {
  const fields = error.fields.filter((field) => Object.hasOwn(operation.data, field));
  return fields.length === error.fields.length
    ? error
    : new ConflictError(error.message, { fields, code: error.code, cause: error });
}

/** What is committed stays, whatever listeners do. */
async function announce(plan: OperationPlan, operation: MutableOperation, scope: RequestScope): Promise<void> {
  operation.scope = scope;
  for (const hook of plan.committed) {
    try {
      await runHooks([hook], operation);
    } catch (error) {
      const { entity, kind } = operation;
      scope.log.error("A hook failed after the commit", {
        plugin: hook.plugin,
        entity: entity.name,
        kind,
        requestId: scope.requestId,
        ...describeError(error),
      });
    }
  }
}
