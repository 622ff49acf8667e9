import { setImmediate } from "node:timers/promises";
import { type AnyEntity, resolveEntity } from "../../../entity/index.ts";
import type { Where } from "../../../gate/index.ts";
import { getLogger } from "../../../kernel/index.ts";
import { keysOfApp } from "./app-keys.ts";
import { blindIndexColumn } from "./blind-index-column.ts";
import { encryptedFieldsOf } from "./encrypted-fields-of.ts";
import { noKey } from "./key-store.ts";
import { refuseProtected } from "./protected-driver.ts";
import { rotateRecord } from "./rotate-record.ts";
import type { RotationOptions, RotationProgress, RotationResult } from "./rotation.ts";

const BATCH = 200;

interface Plan {
  readonly entity: AnyEntity;
  readonly fields: readonly string[];
}

/** Records that hold any ciphertext, after an id. */
function withValues({ fields }: Plan, after: string | null): Where {
  const some = { OR: fields.map((field) => ({ [field]: { null: false } })) };
  return after === null ? some : { ...some, id: { gt: after } };
}

function start(keyId: string, from: RotationProgress | undefined): RotationProgress {
  if (from?.keyId === keyId) return from;
  const zero = { total: 0, records: 0, reEncrypted: 0, overtaken: 0, failed: 0 };
  return { keyId, entity: null, after: null, finished: [], ...zero };
}

/**
 * Gives every encrypted value the ring's primary key (spec 2.4 rule 11), by id, record by record, while the app goes on
 * writing. Each update has the old ciphertext in its `where`, so no write is lost; values of an unbound key become bound
 * when the primary key binds. It can be cut off anywhere, `kill -9` included, and started again.
 *
 * Every process has to have the new key as primary before this starts: what another one still writes under an old key
 * behind the rotation stays there. `countValuesPerKey` tells whether any did.
 * @throws ConfigurationError without a key; for a driver that encrypts itself
 */
export async function rotateEncryptionKeys(options: RotationOptions): Promise<RotationResult> {
  const { driver, entities, batchSize = BATCH, onProgress, onFailure, resumeFrom, signal } = options;
  const { allowPlaintext, reindex } = options;
  refuseProtected(driver);
  const ring = options.ring ?? keysOfApp(options.encryption, getLogger());
  const keyId = ring.primary;
  if (keyId === null) throw noKey();
  let progress = start(keyId, resumeFrom);
  const plans: Plan[] = entities
    .map((entity) => resolveEntity(entity) as AnyEntity)
    .map((entity) => ({ entity, fields: encryptedFieldsOf(entity) }))
    .filter(({ entity, fields }) => fields.length > 0 && !progress.finished.includes(entity.name));
  const startOf = ({ entity }: Plan): string | null => (progress.entity === entity.name ? progress.after : null);

  let total = progress.records;
  for (const plan of plans) total += await driver.count(plan.entity, withValues(plan, startOf(plan)));
  progress = { ...progress, total };

  for (const plan of plans) {
    const { entity, fields } = plan;
    const indexes = reindex ? fields.flatMap((field) => blindIndexColumn(entity, field) ?? []) : [];
    const select = ["id", ...fields, ...indexes];
    const query = { where: withValues(plan, startOf(plan)), select };
    progress = { ...progress, entity: entity.name, after: startOf(plan) };
    for await (const rows of driver.stream(entity, query, batchSize)) {
      for (const row of rows) {
        await setImmediate(); // an embedded database answers at once: requests have to have their turn too
        if (signal?.aborted) return { ...progress, complete: false };
        const { reEncrypted, overtaken, failures } = await rotateRecord(
          { driver, ring, allowPlaintext, reindex, select },
          entity,
          fields,
          row,
        );
        for (const failure of failures) await onFailure?.(failure);
        progress = {
          ...progress,
          after: row.id as string,
          records: progress.records + 1,
          reEncrypted: progress.reEncrypted + reEncrypted,
          overtaken: progress.overtaken + overtaken,
          failed: progress.failed + failures.length,
        };
      }
      await onProgress?.(progress);
    }
    progress = { ...progress, entity: null, after: null, finished: [...progress.finished, entity.name] };
  }
  return { ...progress, complete: true };
}
