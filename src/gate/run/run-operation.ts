import { ConfigurationError } from "../../entity/index.ts";
import {
  ConflictError,
  describeError,
  MethodNotAllowedError,
  RecordChangedError,
  runHooks,
  UnavailableError,
} from "../../kernel/index.ts";
import type { Row } from "../condition/condition.ts";
import { inTransaction, type MutableOperation, newOperation } from "../operation/new-operation.ts";
import type { Decision, Operation, OperationInput, OperationKind } from "../operation/operation.ts";
import { authorize } from "../operation/policy.ts";
import type { GateScope, OperationPlan } from "../operation/runtime.ts";
import { tagRecords } from "../record/tag-record.ts";
import { checkQuery, narrowQuery } from "../requirement/check-query.ts";
import { allowsAll, readDecisionOf, storedRecord } from "../requirement/decisions.ts";
import { asItPasses } from "../requirement/passes.ts";
import { deniedError, NOTHING_DONE } from "../requirement/unmatched.ts";
import { inTurn } from "./brief-transaction.ts";
import { mayWaitForOthers } from "./changed-columns.ts";
import { decideAfterStatement } from "./decide-again.ts";
import { runCreate } from "./execute-create.ts";
import { runCount, runList, runRead } from "./execute-read.ts";
import { recheck, runDelete, runUpdate } from "./execute-write.ts";
import {
  type ConflictNames,
  isAskedOf,
  refuseDropped,
  setValues,
  takePrecondition,
  withNamesOnly,
} from "./take-precondition.ts";

const EXECUTORS: Readonly<Record<OperationKind, (operation: MutableOperation) => Promise<void>>> = {
  create: runCreate,
  list: runList,
  read: runRead,
  count: runCount,
  update: runUpdate,
  delete: runDelete,
};

const READS: ReadonlySet<OperationKind> = new Set(["list", "read", "count"]);

/** Maximum number of attempts for a record that keeps changing while rules and validators read it. */
const ATTEMPTS = 3;

/**
 * Runs one operation through all phases, in order.
 * @throws any error that a phase throws: 400, 401, 403, 404, 409, 503
 */
export async function runOperation(scope: GateScope, input: OperationInput): Promise<Operation> {
  const { runtime } = scope;
  const { entity, planOf } = runtime.find(input.entity);
  if (entity.readOnly && !READS.has(input.kind)) throw new MethodNotAllowedError(["GET", "HEAD"]);
  const operation = newOperation(scope, entity, input);
  const plan = planOf(operation.kind, operation.access);

  const isSystem = scope.principal.kind === "system";
  if (isSystem) operation.decision.allowed = true;
  else {
    const asked = authorize(plan, operation);
    if (asked !== undefined) await asked;
  }
  if (!operation.decision.allowed) throw deniedError(operation, runtime.production);
  if (plan.isUnguarded && !isSystem)
    throw new ConfigurationError(
      `No plugin of the app provides "validation", so callers cannot store anything. Add validation(), or a plugin that provides it`,
    );

  const masking = isSystem ? undefined : scope.access.maskReady(entity);
  if (masking !== undefined) await masking;
  if (operation.precondition !== undefined || scope.state.precondition !== undefined) await takePrecondition(operation);
  if (input.when !== undefined) operation.require(input.when, "leave");
  const { query, data } = input;
  if (query !== undefined) {
    const asked = typeof query === "function" ? query(operation) : query;
    operation.query = asked instanceof Promise ? await asked : asked;
    const checked = isSystem ? narrowQuery(operation) : checkQuery(operation, input.bounded);
    operation.query = checked instanceof Promise ? await checked : checked;
    const { where } = operation.query;
    if (where !== undefined && (operation.kind === "update" || operation.kind === "delete"))
      operation.require(where, "leave");
  }
  if (operation.query.textMoments && !plan.textMoments) operation.query = { ...operation.query, textMoments: false };
  if (plan.narrow.length > 0) await runHooks(plan.narrow, operation);
  if (plan.plan.length > 0) await runHooks(plan.plan, operation);
  if (data !== undefined) operation.data = { ...(typeof data === "function" ? await data(operation) : data) };

  if (plan.normalize.length > 0) await runHooks(plan.normalize, operation);
  if (input.set !== undefined) setValues(operation, input.set);
  const stamped = operation.kind === "create" ? runtime.stampOf?.(scope, entity) : undefined;
  if (stamped !== undefined) operation.data = { ...operation.data, ...stamped };
  // The related records that a write includes may be refused (too many records); the write must then roll back.
  const isOneWithAnswer = data !== undefined && includesOwn(operation);
  try {
    if (plan.isRead) await execute(plan, operation);
    else await validateAndExecute(plan, operation, isOneWithAnswer, input.set);
  } catch (error) {
    if (error !== NOTHING_DONE) throw error;
    operation.records = [];
    operation.applied = false;
    return operation;
  }
  // The precondition applied to the record before this change, not to later operations of the scope.
  if (operation.precondition !== undefined && isAskedOf(operation)) scope.state.precondition = undefined;
  // An operation on several records returns no records.
  if (!isOneWithAnswer && operation.ids === undefined && !operation.idOnly) await complete(plan, operation);
  if (plan.committed.length > 0) await scope.whenCommitted((outermost) => announce(plan, operation, outermost));
  return operation;
}

/** Starts again from the input if the record has changed since a rule or a validator read it. */
async function validateAndExecute(
  plan: OperationPlan,
  operation: MutableOperation,
  isOneWithAnswer: boolean,
  set: OperationInput["set"],
): Promise<void> {
  const submitted = operation.data;
  // The final mask of the outer scope: a transaction has its own, and rules must not use a failed transaction.
  const { readable } = operation.scope.access.mask(operation.entity);
  const required = operation.requirements.length;
  const ignored = operation.ignored.length;
  const validate = async (): Promise<void> => {
    operation.data = { ...submitted };
    operation.requirements.length = required;
    operation.ignored.length = ignored;
    if (operation.begunListeners.length > 0) {
      if (operation.ifFound && (await storedRecord(operation)) === null) throw NOTHING_DONE;
      // They write other records, which only the whole transaction takes back: from now on, a refusal is an error.
      operation.ifFound &&= !isJoined;
      await callInTurn(operation.begunListeners);
    }
    try {
      if (plan.validate.length > 0) await runHooks(plan.validate, operation);
    } finally {
      // Runs first, even if validators fail.
      if (set !== undefined) await refuseDropped(operation, set);
    }
    if (plan.protect.length > 0) await runHooks(plan.protect, operation);
  };
  const isBegun = operation.begunListeners.length > 0;
  const isJoined = operation.scope.isTransaction;
  for (let attempt = 1; ; attempt++) {
    if (!isBegun) await validate();
    try {
      if (!operation.transactional && !isOneWithAnswer) return await execute(plan, operation, { submitted, readable });
      const run = (): Promise<void> =>
        inTransaction(operation, async () => {
          if (isBegun) await validate();
          await execute(plan, operation, { submitted, readable });
          if (isOneWithAnswer) await complete(plan, operation);
        });
      // The caller chooses how many related records and pairs are written.
      return await (operation.transactional ? inTurn(operation.scope)(run) : run());
    } catch (error) {
      if (!(error instanceof RecordChangedError) || attempt === ATTEMPTS || operation.scope.isFailed) throw error;
    }
  }
}

/** @param names the field names that a conflict may contain; undefined for a read */
async function execute(plan: OperationPlan, operation: MutableOperation, names?: ConflictNames): Promise<void> {
  if (operation.scope.isExpired) throw new UnavailableError("The request took too long");
  try {
    await EXECUTORS[operation.kind](operation);
    if (operation.againListeners.length > 0 && mayWaitForOthers(operation)) await decideAfterStatement(operation);
    if (operation.writtenListeners.length > 0) await callInTurn(operation.writtenListeners);
    if (plan.execute.length > 0) await runHooks(plan.execute, operation);
    if (operation.transactional) await recheck(operation);
  } catch (error) {
    throw names !== undefined && error instanceof ConflictError ? withNamesOnly(error, operation, names) : error;
  }
}

async function callInTurn(listeners: MutableOperation["writtenListeners"]): Promise<void> {
  for (const listener of listeners) await listener();
}

/** Turns the result of the statement into the caller's result. Synchronous unless a hook is asynchronous. */
async function complete(plan: OperationPlan, operation: MutableOperation): Promise<void> {
  const { kind, principal } = operation;
  if ((kind === "create" || kind === "update") && principal.kind !== "system") {
    // A transaction's scope has its own mask, which decides the fields that the record shows.
    const masking = operation.scope.access.maskReady(operation.entity);
    if (masking !== undefined) await masking;
    const withholding = withholdUnreadable(operation);
    if (withholding !== undefined) await withholding;
  }
  tagRecords(operation);
  const revealing = runHooks(plan.reveal, operation);
  if (revealing !== undefined) await revealing;
  const joining = runHooks(plan.join, operation);
  if (joining !== undefined) await joining;
  stripUnselected(operation);
  if (plan.redact.length > 0) await runHooks(plan.redact, operation);
}

/** Runs the hooks after the commit. The write stays even if one of them fails. */
async function announce(plan: OperationPlan, operation: MutableOperation, scope: GateScope): Promise<void> {
  operation.scope = scope;
  for (const hook of plan.committed) {
    try {
      await runHooks([hook], operation);
    } catch (error) {
      const { entity, kind } = operation;
      scope.app.log.error("A hook failed after the commit", {
        plugin: hook.plugin,
        hook: hook.name,
        entity: entity.name,
        kind,
        requestId: scope.requestId,
        ...describeError(error),
      });
    }
  }
}

/**
 * Prevents reading by writing: a caller who may not read the written record gets only its id, and nothing about related
 * records.
 */
function withholdUnreadable(operation: MutableOperation): Promise<void> | undefined {
  const row = operation.records[0];
  if (row === undefined) return undefined;
  const decision = readDecisionOf(operation, { id: String(row.id) });
  if (allowsAll(decision)) return undefined;
  return withholdUnless(operation, row, decision);
}

async function withholdUnless(
  operation: MutableOperation,
  row: Row,
  asked: Decision | Promise<Decision>,
): Promise<void> {
  const decision = await asked;
  const { entity, scope } = operation;
  const asking = { app: scope.app, driver: scope.store };
  const readable = decision.allowed ? await asItPasses(asking, entity, decision, row) : undefined;
  operation.records = [readable ?? { id: row.id }];
  if (readable === undefined) operation.query = { ...operation.query, include: undefined };
}

/** Removes columns that were fetched only for cursors and joins. */
function stripUnselected({ query, records, entity }: Pick<Operation, "query" | "records" | "entity">): void {
  if (query.select === undefined) return;
  const keep = new Set([...query.select, "id"]);
  for (const record of records)
    for (const name of Object.keys(record))
      if (Object.hasOwn(entity.columns, name) && !keep.has(name)) delete record[name];
}

/**
 * Whether a response includes related records of the app, which may be refused because there are too many. Records of
 * remote services become null at worst, and no transaction should stay open while they are fetched.
 */
function includesOwn({ entity, query }: Pick<Operation, "entity" | "query">): boolean {
  return Object.keys(query.include ?? {}).some((name) => entity.relations[name]?.remote?.service === undefined);
}
