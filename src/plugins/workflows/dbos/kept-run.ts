import type { Driver, Row } from "../../../gate/index.ts";
import type { WorkflowDefinition } from "../definition/workflow-definition.ts";
import type { Codec } from "../engine/journal-codec.ts";
import { STEP } from "../engine/journal-entities.ts";
import { stateOf } from "../engine/stored-run.ts";
import type { Phase, SagaState } from "../saga/saga-runtime.ts";
import { type RunCipher, runCipher } from "./run-cipher.ts";

/** What the column `input` of a run holds. */
export interface KeptInput {
  readonly input: unknown;
  /** Of what DBOS holds; see `runCipher`. */
  readonly key: string | undefined;
}

/** A run, as far as it is known. */
export interface KeptRun {
  readonly input: unknown;
  readonly state: SagaState;
  readonly cipher: RunCipher;
}

/**
 * Puts a run together again, of its row, the entries of its entity steps, and the entries that DBOS has.
 * @param texts the entries of DBOS, in order
 */
export async function keptRun(
  driver: Driver,
  row: Row,
  texts: readonly string[],
  definition: WorkflowDefinition,
  codec: Codec,
): Promise<KeptRun> {
  const runId = row.id as string;
  const { input, key } = codec.decode(row.input as string) as KeptInput;
  const cipher = runCipher(runId, key);
  const rows = await driver.findMany(STEP, { where: { runId } });
  const entries = merged(
    texts.map((text) => JSON.parse(cipher.open(text)) as Row),
    rows,
  );
  const state = stateOf({ ...row, data: latestData(entries) ?? row.data }, entries, definition, codec);
  return { input, state, cipher };
}

/** The last entry of each step. One in the app's database is later than any of DBOS: it ended the step. */
function merged(...places: readonly (readonly Row[])[]): readonly Row[] {
  return [...new Map(places.flat().map((entry) => [`${entry.phase}:${entry.seq}`, entry])).values()];
}

/** What `data` is after the step that ended last, as text; undefined before the first one. */
function latestData(entries: readonly Row[]): string | undefined {
  const done = (phase: Phase): readonly Row[] =>
    entries
      .filter((entry) => entry.phase === phase && entry.status === "done")
      .sort((a, b) => (a.seq as number) - (b.seq as number));
  return (done("compensate").at(0) ?? done("execute").at(-1))?.data as string | undefined;
}
