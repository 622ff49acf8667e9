import type { Codec } from "./codec.ts";
import { RUN, STEP } from "./journal-entities.ts";
import { runReport } from "./run-report.ts";
import type { EngineHost, RunReport } from "./workflow-engine.ts";

/** What a journal knows of a run, with what its last step gave when it has completed; undefined when there is none. */
export function storedReport(host: EngineHost, codec: Codec, runId: string): Promise<RunReport | undefined> {
  return host.runAs("system", async ({ driver }) => {
    const row = await driver.findOne(RUN, { id: runId });
    if (row === null) return undefined;
    const steps = host.workflows.get(row.name as string)?.steps.length ?? 0;
    const last =
      row.status === "completed" ? await driver.findOne(STEP, { id: `${runId}:${steps - 1}:execute` }) : undefined;
    return { ...runReport(row), ...(last ? { result: codec.decode(last.result as string | null) } : {}) };
  });
}
