import type { Row } from "../../../kernel/index.ts";
import type { Codec } from "../engine/codec.ts";
import { entryOf } from "../engine/database-journal.ts";
import type { Journal, Phase } from "../saga/saga-runtime.ts";
import type { WorkflowDefinition } from "../workflow-definition.ts";
import type { StepLog } from "./dbos-process.ts";
import type { RunCipher } from "./run-cipher.ts";

/** What the journal of a run is made of. */
export interface DbosJournalParts {
  readonly definition: WorkflowDefinition;
  readonly log: StepLog;
  readonly codec: Codec;
  readonly cipher: RunCipher;
  /** For what has to commit together with what a step did, and for where the run stands. */
  readonly inApp: Journal;
}

/** A journal in the step log of DBOS; entity steps have their entries in the app's database, in their own transactions. */
export function dbosJournal({ definition, log, codec, cipher, inApp }: DbosJournalParts): Journal {
  async function record(what: string, seq: number, phase: Phase, entry: Row): Promise<void> {
    const name = `${definition.steps[seq]?.name}: ${phase}, ${what}`;
    await log.record(name, cipher.seal(JSON.stringify({ seq, phase, ...entry })));
  }
  return {
    started: (seq, phase, attempt) => record("started", seq, phase, { status: "started", attempt }),
    async finished(seq, phase, outcome, environment) {
      if (environment !== undefined) return inApp.finished(seq, phase, outcome, environment);
      await record(outcome.status, seq, phase, entryOf(outcome, codec));
    },
    moved: inApp.moved,
  };
}
