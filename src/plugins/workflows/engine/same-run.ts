import { ConflictError } from "../../../kernel/index.ts";
import { definitionHash, type WorkflowDefinition } from "../workflow-definition.ts";
import type { Caller } from "./workflow-engine.ts";

/** What two runs of one id have to agree in: the workflow as it is, and on whose behalf. */
export function sameRun(
  workflow: WorkflowDefinition,
  caller: Caller,
  definition: unknown = definitionHash(workflow),
): string {
  const whose = caller === null || caller === "system" ? caller : { id: caller.id };
  return JSON.stringify([workflow.name, definition, whose]);
}

/** @throws ConflictError where an id is taken by another run: its result is none of this caller's business */
export function assertSameRun(runId: string, known: string, asked: string): void {
  if (known !== asked)
    throw new ConflictError(`There is a run "${runId}" already, of another workflow or on somebody else's behalf`);
}
