import type { ConflictError, Row } from "../../../kernel/index.ts";
import { type FollowParts, followRun } from "../engine/follow-run.ts";
import { RUN } from "../engine/journal-entities.ts";
import { runReport } from "../engine/run-report.ts";
import { assertSameRun, sameRun } from "../engine/same-run.ts";
import type { loadState } from "../engine/stored-run.ts";
import type { Caller, RunHandle, RunReport, RunRequest } from "../engine/workflow-engine.ts";
import type { WorkflowResult } from "../workflow-result.ts";
import type { DbosProcess } from "./dbos-process.ts";
import { type KeptInput, keptRun } from "./kept-run.ts";

/** Runs that somebody else began, or that have ended. */
export interface KnownRuns {
  report(runId: string): Promise<RunReport | undefined>;
  /** The run that has this id already. @throws ConflictError when it is another one */
  attach(request: RunRequest, runId: string, conflict: ConflictError): Promise<RunHandle>;
}

export interface KnownRunsParts extends Pick<FollowParts, "host" | "codec" | "pollMs" | "signal"> {
  readonly dbos: DbosProcess;
  /** A run's end, while it runs in this process. */
  here(runId: string): Promise<WorkflowResult> | undefined;
}

export function knownRuns({ host, codec, dbos, here, pollMs, signal }: KnownRunsParts): KnownRuns {
  const load: typeof loadState = async (driver, row, definition) => {
    const texts = await dbos.entriesOf(row.id as string);
    return (await keptRun(driver, row, texts, definition, codec)).state;
  };

  function find(runId: string): Promise<Row | null> {
    return host.runAs("system", ({ driver }) => driver.findOne(RUN, { id: runId }));
  }

  return {
    async report(runId) {
      const row = await find(runId);
      if (row === null) return undefined;
      const told = runReport(row);
      const definition = host.workflows.get(told.name);
      if (told.status !== "completed" || definition === undefined) return told;
      const { executed } = await host.runAs("system", ({ driver }) => load(driver, row, definition, codec));
      const last = executed[definition.steps.length - 1];
      return last?.status === "done" ? { ...told, result: last.result } : told;
    },
    async attach({ workflow, caller, input }, runId, conflict) {
      const row = await find(runId);
      if (row === null) throw conflict;
      const whose = codec.decode(row.caller as string | null) as Caller;
      const stored = (codec.decode(row.input as string) as KeptInput).input;
      const known = sameRun({ ...workflow, name: row.name as string }, whose, stored, row.definition);
      assertSameRun(runId, known, sameRun(workflow, caller, codec.decode(codec.encode(input))));
      const result = followRun({ host, codec, here: () => here(runId), pollMs, signal, load }, workflow, runId);
      result.catch(() => {}); // whoever does not wait asks for the run
      return { runId, result };
    },
  };
}
