import { ConfigurationError } from "../../../entity/index.ts";
import type { Row } from "../../../gate/index.ts";
import { definitionHash } from "../definition/workflow-definition.ts";
import type { Lease } from "./database-journal.ts";

import type { Codec } from "./journal-codec.ts";
import { withUse } from "./run-use.ts";
import type { Caller, EngineHost, RunRequest } from "./workflow-engine.ts";

/** Names of credentials. */
const CREDENTIAL = /token|secret|passw|credential|cookie|authorization|jwt|session|(?:api|access|private)[-_ ]?key/i;
const MAX_DEPTH = 8;

/**
 * What a journal keeps of a caller, for the process that continues the run: the id, and plain data. Functions, sets,
 * maps, instances of classes, and members named like a credential are left out.
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

/** Undefined for what is not kept. */
function plainOf(value: unknown, depth: number): unknown {
  if (typeof value === "function" || typeof value === "symbol" || depth > MAX_DEPTH) return undefined;
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map((item) => plainOf(item, depth + 1)).filter((item) => item !== undefined);
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? members(value, depth) : undefined;
}

/**
 * A run as a journal has it before anything has happened.
 * @param data what its `data` begins with, in whole
 * @throws ConfigurationError for a workflow that could not be found again by its name; ResultNotKept for an input that cannot be written
 */
export function newRun(
  host: EngineHost,
  { workflow, input, caller, use }: RunRequest,
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
    data: codec.encode(data),
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
