import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Driver, Row } from "../../../gate/index.ts";
import type { WorkflowDefinition } from "../definition/workflow.ts";
import { stateOf } from "../engine/database-journal.ts";
import type { Codec } from "../engine/journal-codec.ts";
import { STEP } from "../engine/stored-run.ts";
import type { Phase, SagaState } from "../saga/saga-runtime.ts";

/** The content of a run's `input` column. */
export interface KeptInput {
  readonly input: unknown;
  /** The key of the texts that DBOS stores; see `runCipher`. */
  readonly key: string | undefined;
}

/** The stored part of a run. */
export interface KeptRun {
  readonly input: unknown;
  readonly state: SagaState;
  readonly cipher: RunCipher;
}

/**
 * Reassembles a run from its row, the entries of its entity steps, and the entries in DBOS.
 * @param texts the entries in DBOS, in order
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

/** The last entry of each step. An entry in the app's database is later than those in DBOS: it ended the step. */
function merged(...places: readonly (readonly Row[])[]): readonly Row[] {
  return [...new Map(places.flat().map((entry) => [`${entry.phase}:${entry.seq}`, entry])).values()];
}

/** The `data` after the last step that ended, as text; undefined before the first one. */
function latestData(entries: readonly Row[]): string | undefined {
  const done = (phase: Phase): readonly Row[] =>
    entries
      .filter((entry) => entry.phase === phase && entry.status === "done")
      .sort((a, b) => (a.seq as number) - (b.seq as number));
  return (done("compensate").at(0) ?? done("execute").at(-1))?.data as string | undefined;
}

/** Encrypts texts of a run that are stored outside of the app's database. */
export interface RunCipher {
  seal(text: string): string;
  open(text: string): string;
}

/** A key for one run. */
export function newRunKey(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * AES-256-GCM with a key from the run's row, which is encrypted with the app's own keys. The texts in DBOS can only be
 * read with access to that row. A rotation of the app's keys does not change them, and without the row they cannot be
 * decrypted.
 * @param key undefined: texts are stored in plain text
 */
function runCipher(runId: string, key: string | undefined): RunCipher {
  if (key === undefined) return { seal: (text) => text, open: (text) => text };
  const secret = Buffer.from(key, "base64url");
  return {
    seal(text) {
      const iv = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", secret, iv, { authTagLength: 16 }).setAAD(Buffer.from(runId));
      return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString("base64url");
    },
    open(text) {
      const bytes = Buffer.from(text, "base64url");
      const decipher = createDecipheriv("aes-256-gcm", secret, bytes.subarray(0, 12), { authTagLength: 16 });
      decipher.setAAD(Buffer.from(runId)).setAuthTag(bytes.subarray(-16));
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString();
    },
  };
}
