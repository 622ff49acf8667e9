import { defaultIds } from "../../../kernel/index.ts";
import { memoryJournal } from "../saga/memory-journal.ts";
import { newState } from "../saga/saga-runtime.ts";
import { runInApp } from "./run-in-app.ts";
import type { EngineHost, RunRequest, WorkflowEngine } from "./workflow-engine.ts";

/** Runs workflows in memory: failures are taken back, a crash of the process is not, and nothing is remembered. */
export function memoryEngine(): WorkflowEngine {
  let host: EngineHost | undefined;
  const running = new Set<Promise<unknown>>();
  return Object.freeze<WorkflowEngine>({
    name: "memory",
    start(given) {
      host = given;
    },
    async run({ workflow, input, data, caller, runId = defaultIds.next() }: RunRequest) {
      const state = newState({ ...workflow.data, ...data });
      const result = runInApp(host as EngineHost, workflow, caller, state, () => ({
        runId,
        input,
        startedAt: new Date(),
        journal: memoryJournal,
        isDurable: false,
        lost: undefined,
      }));
      running.add(result);
      const end = (): void => void running.delete(result);
      result.then(end, end);
      return { runId, result };
    },
    report: async () => undefined,
    async stop() {
      await Promise.allSettled([...running]);
    },
  });
}
