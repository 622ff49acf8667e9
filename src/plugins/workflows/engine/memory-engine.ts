import { defaultIds } from "../../../gate/index.ts";
import type { WorkflowResult } from "../definition/workflow.ts";
import { memoryJournal, newState } from "../saga/saga-runtime.ts";
import {
  assertSameRun,
  type EngineHost,
  type RunRequest,
  runInApp,
  type SameRun,
  sameRun,
  type WorkflowEngine,
} from "./workflow-engine.ts";

/**
 * Runs workflows in memory. Failures are compensated, a crash of the process is not, and no runs are kept. A second run
 * with the same id attaches to the first while that is running.
 */
export function memoryEngine(): WorkflowEngine {
  let host: EngineHost | undefined;
  const running = new Map<string, { readonly same: SameRun; readonly result: Promise<WorkflowResult> }>();
  return Object.freeze<WorkflowEngine>({
    name: "memory",
    start(given) {
      host = given;
    },
    async run(request: RunRequest) {
      const { workflow, input, data, caller, runId = defaultIds.next() } = request;
      const same = sameRun(workflow, caller, input);
      const known = running.get(runId);
      if (known !== undefined) {
        assertSameRun(runId, known.same, same);
        return { runId, result: known.result };
      }
      const state = newState({ ...workflow.data, ...data }, request);
      const result = runInApp(host as EngineHost, workflow, caller, state, (system) => ({
        runId,
        input,
        startedAt: system.app.now(),
        journal: memoryJournal,
        isDurable: false,
        lost: undefined,
      }));
      running.set(runId, { same, result });
      const end = (): void => void running.delete(runId);
      result.then(end, end);
      return { runId, result };
    },
    report: async () => undefined,
    async stop() {
      await Promise.allSettled([...running.values()].map(({ result }) => result));
    },
  });
}
