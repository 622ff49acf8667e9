import {
  type AnyEntity,
  ConfigurationError,
  datetime,
  entity,
  int,
  isKeelsonError,
  isPlainObject,
  KeelsonError,
  string,
  text,
} from "../../../entity/index.ts";
import { entityName, isUsable, type Row, type ShownRecords, type Use } from "../../../gate/index.ts";
import { describeError, handleError } from "../../../kernel/index.ts";
import { definitionHash, type WorkflowStatus } from "../definition/workflow.ts";
import type { Codec } from "./journal-codec.ts";
import { boundedNotes } from "./kept-notes.ts";
import type { Caller, EngineHost, RunReport, RunRequest, StepState } from "./workflow-engine.ts";

/** Names of credentials. */
const CREDENTIAL = /token|secret|passw|credential|cookie|authorization|jwt|session|(?:api|access|private)[-_ ]?key/i;
const MAX_DEPTH = 8;

/**
 * The part of a caller that a journal keeps for the process that resumes the run: the id and plain data. Functions,
 * sets, maps, instances of classes and members named like credentials are left out.
 */
function keptCaller(caller: Caller): Caller {
  if (caller === null || caller === "system") return caller;
  return { ...(members({ ...caller }, 0) as Row), id: caller.id };
}

function members(value: object, depth: number): Row {
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const plain = CREDENTIAL.test(name) ? undefined : plainOf(inner, depth + 1);
    return plain === undefined ? [] : [[name, plain] as const];
  });
  return Object.fromEntries(kept);
}

/** The plain form of a value; undefined for values that are not kept. */
function plainOf(value: unknown, depth: number): unknown {
  if (typeof value === "function" || typeof value === "symbol" || depth > MAX_DEPTH) return undefined;
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map((item) => plainOf(item, depth + 1)).filter((item) => item !== undefined);
  return isPlainObject(value) ? members(value, depth) : undefined;
}

/**
 * The journal's row of a new run.
 * @param data the complete initial `data`
 * @throws ConfigurationError for a workflow that could not be found again by its name; ResultNotKept for an input that
 * cannot be stored
 */
export function newRun(
  host: EngineHost,
  { workflow, input, caller, use, shown }: RunRequest,
  data: unknown,
  { runId, owner, fence, leaseMs }: Lease,
  codec: Codec,
  startedAt: Date = new Date(),
): Row & { readonly startedAt: Date } {
  if (host.workflows.get(workflow.name) !== workflow)
    throw new ConfigurationError(
      `Workflow "${workflow.name}" is not one of this app's: name it in workflows({ workflows: [...] }), so that it can be taken up after a restart; or run it in memory with executeWorkflow`,
    );
  return {
    id: runId,
    name: workflow.name,
    definition: definitionHash(workflow),
    status: "pending",
    caller: withUse(codec.encode(keptCaller(caller)), use),
    userId: caller === null || caller === "system" ? null : caller.id,
    input: codec.encode(input),
    data: codec.encode(data, shown),
    failedStep: null,
    error: null,
    startedAt,
    owner,
    leaseUntil: new Date(startedAt.getTime() + leaseMs),
    fence,
    createdAt: startedAt,
    updatedAt: startedAt,
  };
}

// The use for which a run's action was authorized is stored with the caller, in the same text.

interface Kept {
  readonly value: unknown;
  readonly use?: Use | undefined;
}

/** Adds a use to the stored caller. @param text the stored caller */
function withUse(text: string, use: Use | undefined): string {
  const { value } = JSON.parse(text) as Kept;
  return use === undefined ? text : JSON.stringify({ value, use: { ...use, entity: entityName(use.entity) } });
}

/** The stored use. Undefined for runs that no action started, and for runs of earlier versions. */
export function keptUse(text: unknown): Use | undefined {
  return typeof text === "string" ? (JSON.parse(text) as Kept).use : undefined;
}

/**
 * The changes to the row of a completed run. If the work itself ended the right to use the action, as a deletion does,
 * the stored use is removed, so that the caller can still read the result.
 * @param text the stored caller
 */
export async function settledUse(host: EngineHost, caller: Caller, text: unknown): Promise<Row> {
  const use = keptUse(text);
  if (use === undefined) return {};
  try {
    if (await host.runAs(caller, (scope) => isUsable(scope, use))) return {};
  } catch (error) {
    host.log.warn("Whether the action of a run may still be used is not known", describeError(error));
    return {};
  }
  return { caller: JSON.stringify({ value: (JSON.parse(text as string) as Kept).value }) };
}

interface StoredRun {
  readonly id: string;
  readonly name: string;
  readonly status: WorkflowStatus;
  readonly startedAt: Date;
  readonly updatedAt: Date;
  readonly userId: string | null;
  readonly failedStep: string | null;
  readonly error: string | null;
}

/** The public part of a run's row. */
export function runReport(row: Row): RunReport {
  const { id, name, status, startedAt, updatedAt, userId, failedStep, error } = row as unknown as StoredRun;
  const failure = failedStep === null ? {} : { failedStep, error: publicError(error) };
  return { id, name, status, startedAt, updatedAt, userId, use: keptUse(row.caller), ...failure };
}

/** The public part of a step's row. */
export function stepState(row: Row): StepState {
  const { status, attempt, createdAt, updatedAt, error } = row as unknown as StoredStep;
  const failure = error === null ? {} : { error: publicError(error) };
  return { status, attempt, startedAt: createdAt, updatedAt, ...failure };
}

interface StoredStep extends Pick<StepState, "status" | "attempt" | "updatedAt"> {
  readonly createdAt: Date;
  readonly error: string | null;
}

/** Names of the journal's entities. */
export const RUN = "workflowRun";
export const STEP = "workflowStep";

/**
 * The two entities of a journal: runs and their steps. Only the engine reads and writes them.
 * @param encrypted whether the app's keys encrypt the data of runs
 */
export function journalEntities(encrypted: boolean): readonly AnyEntity[] {
  const carried = encrypted ? text.optional().encrypted() : text.optional();
  const run = entity(RUN, {
    name: string,
    definition: string.describe("Hash of the names and the order of its steps"),
    status: string,
    caller: carried,
    userId: string.optional(),
    input: carried,
    data: carried,
    failedStep: string.optional(),
    error: carried,
    startedAt: datetime,
    owner: string.optional().describe("The process that works on it"),
    leaseUntil: datetime,
    fence: int.default(0).describe("Goes up when another process takes it over"),
  })
    .internal()
    .index(["status", "leaseUntil"]);
  const step = entity(STEP, {
    runId: string,
    seq: int,
    phase: string,
    status: string,
    attempt: int,
    result: carried,
    memo: carried,
    data: carried,
    error: carried,
  })
    .internal()
    .index(["runId"]);
  return [run.build(), step.build()];
}

/** This process's lease on a run. */
export interface Lease {
  readonly runId: string;
  readonly owner: string;
  readonly fence: number;
  /** The duration of the lease in milliseconds. */
  readonly leaseMs: number;
  /** The last time the lease was confirmed, by `performance.now()`. */
  confirmedAt?: number;
}

/**
 * The stored form of an error. Only the name is kept of errors that are not Keelson's, because their message may quote
 * anything.
 * @param notes what the steps have read, which the message may tell
 */
export function errorText(error: Error, notes?: ShownRecords): string {
  const shown = notes && boundedNotes(notes);
  if (!isKeelsonError(error)) return JSON.stringify({ name: error.name, shown });
  const { code, status, message } = error;
  return JSON.stringify({ code, status, message, shown });
}

/** The code and message of a stored error, as in a response to the caller. */
function publicError(text: string | null | undefined): { readonly code: string; readonly message: string } {
  const { code, message } = handleError(errorOf(text)).body;
  return { code: String(code), message: String(message) };
}

/** The stored error, without its cause and stack. */
export function errorOf(text: string | null | undefined): KeelsonError {
  const { name, code, status, message } = JSON.parse(text ?? "{}") as Record<string, string | number | undefined>;
  if (typeof code === "string" && typeof status === "number") return new KeelsonError(code, status, String(message));
  return new KeelsonError("INTERNAL", 500, `A step failed with ${String(name ?? "an error")}`);
}
