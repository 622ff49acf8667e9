import { ConfigurationError } from "../../../entity/index.ts";
import type { Row } from "../../../kernel/index.ts";
import { definitionHash } from "../workflow-definition.ts";
import type { Codec } from "./codec.ts";
import type { Lease } from "./database-journal.ts";
import { keptCaller } from "./kept-caller.ts";
import type { EngineHost, RunRequest } from "./workflow-engine.ts";

/**
 * A run as a journal has it before anything has happened.
 * @param data what its `data` begins with, in whole
 * @throws ConfigurationError for a workflow that could not be found again by its name; ResultNotKept for an input that cannot be written
 */
export function newRun(
  host: EngineHost,
  { workflow, input, caller }: RunRequest,
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
    caller: codec.encode(keptCaller(caller)),
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
