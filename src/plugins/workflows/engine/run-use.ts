import { entityName, isUsable, type Row, type Use } from "../../../gate/index.ts";
import { describeError } from "../../../kernel/index.ts";
import type { Caller, EngineHost } from "./workflow-engine.ts";

// What the action of a run was allowed for stands beside the caller, in the same text of a journal.

interface Kept {
  readonly value: unknown;
  readonly use?: Use | undefined;
}

/** @param text of the caller */
export function withUse(text: string, use: Use | undefined): string {
  const { value } = JSON.parse(text) as Kept;
  return use === undefined ? text : JSON.stringify({ value, use: { ...use, entity: entityName(use.entity) } });
}

/** Undefined for runs that no action began, and for those of earlier versions. */
export function keptUse(text: unknown): Use | undefined {
  return typeof text === "string" ? (JSON.parse(text) as Kept).use : undefined;
}

/**
 * What a journal changes of a run that has completed: where the work itself has ended the right to its action, as a deletion
 * does, losing that right says nothing.
 * @param text of the caller, as the journal has it
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
