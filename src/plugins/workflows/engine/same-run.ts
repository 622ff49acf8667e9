import { isDeepStrictEqual } from "node:util";
import { ConflictError } from "../../../kernel/index.ts";
import { definitionHash, type WorkflowDefinition } from "../definition/workflow-definition.ts";
import type { Caller } from "./workflow-engine.ts";

/** What two runs of one id have to agree in: the workflow as it is, on whose behalf, and with what. */
export interface SameRun {
  readonly key: string;
  readonly input: unknown;
}

export function sameRun(
  workflow: WorkflowDefinition,
  caller: Caller,
  input: unknown,
  definition: unknown = definitionHash(workflow),
): SameRun {
  const whose = caller === null || caller === "system" ? caller : { id: caller.id };
  return { key: JSON.stringify([workflow.name, definition, whose]), input };
}

/** @throws ConflictError when the id belongs to another run, whose result this caller must not see */
export function assertSameRun(runId: string, known: SameRun, asked: SameRun): void {
  if (known.key !== asked.key)
    throw new ConflictError(`There is a run "${runId}" already, of another workflow or on somebody else's behalf`);
  if (!isDeepStrictEqual(known.input, asked.input))
    throw new ConflictError(`There is a run "${runId}" already, with another input`);
}
