import { ConfigurationError } from "../../entity/index.ts";
import { generateEncryptionKey, type RotationFailure, type RotationResult } from "../../index.ts";
import { didYouMean } from "../../kernel/index.ts";
import {
  countUsages,
  forgetRotation,
  keyIdsOf,
  readRotation,
  saveRotation,
  withTables,
} from "../keys/rotation-file.ts";
import { loadProject } from "../project/load-project.ts";
import { CONFIG_ARGUMENT, defineCommand, JSON_ARGUMENT } from "../shell/command.ts";
import type { Output } from "../shell/output.ts";

/** `keelson keys rotate`: re-encrypts every encrypted value with the first key (spec 2.4 rule 11). */
export const keysRotate = defineCommand({
  description: "Give every encrypted value the first key, while the app goes on; run it again when it was cut off",
  examples: ["keys rotate", "keys rotate --reindex   # blind indexes too", "keys rotate --allow-plaintext"],
  args: {
    ...CONFIG_ARGUMENT,
    ...JSON_ARGUMENT,
    reindex: { type: "boolean", description: "Make blind indexes anew" },
    "allow-plaintext": { type: "boolean", description: "Encrypt values from before their field was encrypted" },
  },
  async run({ args, output }) {
    const project = await loadProject(args.config);
    const failures: RotationFailure[] = [];
    const stop = stopOnInterrupt();
    const result = await withTables(project, async ({ driver, model }) =>
      output.withProgress("Re-encrypting", async (report) =>
        project.library.rotateEncryptionKeys({
          driver,
          entities: model.entities,
          encryption: project.config.encryption,
          reindex: args.reindex,
          allowPlaintext: args["allow-plaintext"],
          resumeFrom: await readRotation(),
          signal: stop.signal,
          onFailure: (failure) => failures.push(failure),
          async onProgress(progress) {
            await saveRotation(progress);
            report(progress.records, progress.total, `${progress.records} of ${progress.total} records`);
          },
        }),
      ),
    ).finally(stop.off);
    if (result.complete) await forgetRotation();
    if (args.json) output.json({ ...result, failures });
    else print(output, result, failures);
    return result.complete && result.failed === 0 ? 0 : 1;
  },
});

/** Stops between two records on the first Ctrl-C; finished work is kept. */
function stopOnInterrupt(): { readonly signal: AbortSignal; off(): void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  process.once("SIGINT", abort);
  return { signal: controller.signal, off: () => void process.off("SIGINT", abort) };
}

function print(output: Output, result: RotationResult, failures: readonly RotationFailure[]): void {
  const { keyId, reEncrypted, complete } = result;
  output.line(`${reEncrypted} values were given the key "${keyId}".`);
  if (!complete) output.note("Stopped before the end. Run the command again to go on.");
  if (failures.length === 0) return;
  output.error(`${failures.length} values could not be decrypted, and stay as they are:`);
  for (const { entity, id, field, reason } of failures) output.note(`  ${entity} ${id} ${field}: ${reason}`);
}

/** `keelson keys generate`: prints only a new key, for scripts. */
export const keysGenerate = defineCommand({
  description: "Print a new key for encrypted fields: 32 random bytes as 64 hexadecimal characters",
  examples: ["keys generate"],
  args: {},
  async run({ output }) {
    output.line(generateEncryptionKey());
    return 0;
  },
});

/**
 * `keelson keys remove`: fails while a stored value needs the key. Keelson does not write to the source of the
 * configured keys, so the developer removes the key.
 */
export const keysRemove = defineCommand({
  description: "Tell whether a key can be taken out of the configuration; fails while a stored value needs it",
  examples: ["keys remove v1"],
  args: {
    id: { type: "positional", description: "Id of the key", required: true },
    ...CONFIG_ARGUMENT,
  },
  async run({ args, output }) {
    const project = await loadProject(args.config);
    const known = keyIdsOf(project);
    if (!known.includes(args.id))
      throw new ConfigurationError(`There is no key "${args.id}" in the configuration.${didYouMean(args.id, known)}`);
    if (args.id === known[0])
      throw new ConfigurationError(
        `"${args.id}" is the key that encrypts. Put another one before it, then run: keelson keys rotate`,
      );
    const needing = project.library.valuesNeeding(args.id, await countUsages(project));
    if (needing > 0)
      throw new ConfigurationError(
        `${needing} stored values may need the key "${args.id}"; without it they cannot be read. Run: keelson keys rotate`,
      );
    output.line(`No stored value needs the key "${args.id}". Take it out of the configuration, and deploy.`);
    return 0;
  },
});

/** `keelson keys status`: the number of stored values per key. */
export const keysStatus = defineCommand({
  description: "Count the stored values of each key; fails when some have a key that is not configured",
  examples: ["keys status", "keys status --json"],
  args: { ...CONFIG_ARGUMENT, ...JSON_ARGUMENT },
  async run({ args, output }) {
    const project = await loadProject(args.config);
    const known = keyIdsOf(project);
    const usages = (await countUsages(project)).map((usage) => ({
      ...usage,
      state: stateOf(usage.keyId, known),
    }));
    if (args.json) output.json({ keys: known, usages });
    else if (usages.length === 0) output.line("There are no encrypted values.");
    else
      output.table({
        headings: ["ENTITY", "FIELD", "KEY", "STATE", "VALUES"],
        rows: usages.map(({ entity, field, keyId, state, values }) => [
          entity,
          field,
          keyId ?? "(none)",
          state,
          String(values),
        ]),
      });
    return usages.some(({ state }) => state === "missing") ? 1 : 0;
  },
});

/** "any": the value does not name its key, and all keys are tried. */
function stateOf(keyId: string | null, known: readonly string[]): "primary" | "old" | "missing" | "any" {
  if (keyId === null) return "any";
  if (keyId === known[0]) return "primary";
  return known.includes(keyId) ? "old" : "missing";
}
