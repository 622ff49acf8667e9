import type { RotationFailure, RotationResult } from "../../index.ts";
import { forgetRotation, readRotation, saveRotation } from "../keys/rotation-file.ts";
import { withTables } from "../keys/with-tables.ts";
import { loadProject } from "../project/load-project.ts";
import { defineCommand } from "../shell/command.ts";
import type { Output } from "../shell/output.ts";
import { CONFIG_ARGUMENT, JSON_ARGUMENT } from "../shell/shared-arguments.ts";

/** `keelson keys rotate`: gives every encrypted value the first key (spec 2.4 rule 11). */
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

/** A first Ctrl-C ends between two records; what is done stays done. */
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
