import { setImmediate } from "node:timers/promises";
import { type AnyEntity, type EntityLike, resolveEntity } from "../../../entity/index.ts";
import type { Driver, KeyPosition, Where } from "../../../gate/index.ts";
import { getLogger } from "../../../kernel/index.ts";
import { type AppEncryption, keysOfApp } from "./app-keys.ts";
import { blindIndexColumn } from "./blind-index.ts";
import { getEncryptionKeyId } from "./cipher.ts";
import { type KeyRing, noKey } from "./key-ring.ts";
import { refuseProtected } from "./protected-driver.ts";
import { encryptedFieldsOf } from "./re-encrypt.ts";
import { type RotationFailure, rotateRecord } from "./rotate-record.ts";

const BATCH = 200;

/** Options of `rotateEncryptionKeys`. */
export interface RotationOptions {
  /** The base driver, which sees ciphertext. */
  readonly driver: Driver;
  /**
   * Keys as in the app's configuration. Values move to the first one.
   * @default KEELSON_ENCRYPTION_KEY, or else the keys of `initEncryption`
   */
  readonly encryption?: AppEncryption | undefined;
  /** Your own key ring, instead of `encryption`. */
  readonly ring?: KeyRing | undefined;
  /** Entities without encrypted fields are skipped. */
  readonly entities: readonly EntityLike[];
  /** Records per batch. @default 200 */
  readonly batchSize?: number | undefined;
  /**
   * Encrypts plaintext values from before their field was encrypted, with their blind indexes. Without it, they count
   * as failed.
   * @default false
   */
  readonly allowPlaintext?: boolean | undefined;
  /**
   * Recomputes blind indexes that do not match the current index key: after that key was lost or changed, or when a
   * field has become searchable.
   * @default false
   */
  readonly reindex?: boolean | undefined;
  /** Called after every batch and awaited, for example to save progress. */
  readonly onProgress?: ((progress: RotationProgress) => unknown) | undefined;
  readonly onFailure?: ((failure: RotationFailure) => unknown) | undefined;
  /**
   * Progress of an interrupted rotation. It only saves time: values that already have the new key are skipped anyway.
   * @default none; progress towards another key is ignored
   */
  readonly resumeFrom?: RotationProgress | undefined;
  /** Stops the rotation between two records. */
  readonly signal?: AbortSignal | undefined;
}

/** The progress of a rotation. Plain data: stored as JSON, it lets another process continue. */
export interface RotationProgress {
  /** Id of the key that values move to. */
  readonly keyId: string;
  /** The current entity; `null` before the first and after the last. */
  readonly entity: string | null;
  /** Id of the last finished record of that entity; `null` before the first. */
  readonly after: string | null;
  /** Entities that are finished. */
  readonly finished: readonly string[];
  /** The number of records with ciphertext when the rotation started. */
  readonly total: number;
  /** Records processed so far. */
  readonly records: number;
  /** Values that got the new key or a new blind index. */
  readonly reEncrypted: number;
  /** The number of times a record had changed since it was read; it was then read again. */
  readonly overtaken: number;
  /** Values that cannot be decrypted; they stay unchanged. */
  readonly failed: number;
}

/** The result of a rotation. */
export interface RotationResult extends RotationProgress {
  /** `false` when the signal stopped it. */
  readonly complete: boolean;
}

/**
 * Re-encrypts every encrypted value with the ring's primary key (spec 2.4 rule 11), record by record in the order of
 * ids, while the app keeps writing. Each update has the old ciphertext in its `where`, so no write is lost. Values of
 * an unbound key become bound when the primary key binds. The rotation can be interrupted at any point, even by `kill
 * -9`, and started again.
 *
 * Make the new key primary in every process first: values that another process writes with an old key after the
 * rotation has passed them keep that key. `countValuesPerKey` shows whether any are left.
 * @throws ConfigurationError without a key, and for a driver that encrypts itself
 */
export async function rotateEncryptionKeys(options: RotationOptions): Promise<RotationResult> {
  const { driver, entities, batchSize = BATCH, onProgress, onFailure, resumeFrom, signal } = options;
  const { allowPlaintext, reindex } = options;
  refuseProtected(driver);
  const ring = options.ring ?? keysOfApp(options.encryption, getLogger());
  const keyId = ring.primary;
  if (keyId === null) throw noKey();
  let progress = start(keyId, resumeFrom);
  const plans = plansOf(entities, progress);
  const startOf = (plan: Plan): string | null => startIn(plan, progress);

  if (progress.records === 0) {
    let total = 0;
    for (const plan of plans) total += await driver.count(plan.entity, withValues(plan, startOf(plan)));
    progress = { ...progress, total };
  }

  for (const plan of plans) {
    const { entity, fields } = plan;
    const indexes = reindex ? fields.flatMap((field) => blindIndexColumn(entity, field) ?? []) : [];
    const select = ["id", ...fields, ...indexes];
    const rotation = { driver, ring, allowPlaintext, reindex, entity, fields, select };
    const query = { where: withValues(plan, startOf(plan)), select };
    progress = { ...progress, entity: entity.name, after: startOf(plan) };
    for await (const rows of driver.stream(entity, query, batchSize)) {
      for (const row of rows) {
        await setImmediate(); // an embedded database responds synchronously: let requests run, too
        if (signal?.aborted) return { ...progress, complete: false };
        const { reEncrypted, overtaken, failures } = await rotateRecord(rotation, row);
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
      if (signal?.aborted) return { ...progress, complete: false };
    }
    progress = { ...progress, entity: null, after: null, finished: [...progress.finished, entity.name] };
  }
  return { ...progress, complete: true };
}

interface Plan {
  readonly entity: AnyEntity;
  readonly fields: readonly string[];
}

/** The remaining entities, from a position. */
function plansOf(entities: readonly EntityLike[], { finished }: Pick<KeyPosition, "finished">): readonly Plan[] {
  return entities
    .map((entity) => resolveEntity(entity) as AnyEntity)
    .map((entity) => ({ entity, fields: encryptedFieldsOf(entity) }))
    .filter(({ entity, fields }) => fields.length > 0 && !finished.includes(entity.name));
}

function startIn({ entity }: Plan, position: KeyPosition): string | null {
  return position.entity === entity.name ? position.after : null;
}

/** Records with ciphertext, after an id. */
function withValues({ fields }: Plan, after: string | null): Where {
  const some = { OR: fields.map((field) => ({ [field]: { null: false } })) };
  return after === null ? some : { ...some, id: { gt: after } };
}

function start(keyId: string, from: RotationProgress | undefined): RotationProgress {
  if (from?.keyId === keyId) return from;
  const zero = { total: 0, records: 0, reEncrypted: 0, overtaken: 0, failed: 0 };
  return { keyId, entity: null, after: null, finished: [], ...zero };
}

/** The number of stored values of one field that have a key. */
export interface KeyUsage {
  readonly entity: string;
  readonly field: string;
  /** `null` for values without a key id, whose key is unknown, and for values that are not encrypted. */
  readonly keyId: string | null;
  readonly values: number;
}

/**
 * Counts stored values by entity, field and key, including those of keys that are no longer registered. Reads every row.
 * @param driver the base driver, which sees ciphertext
 * @throws ConfigurationError for a driver that decrypts
 */
export async function countValuesPerKey(driver: Driver, entities: readonly EntityLike[]): Promise<KeyUsage[]> {
  const { usages } = await countFrom(driver, entities, undefined);
  return [...usages];
}

/**
 * Counts the values of a limited number of records.
 * @param from the position after which it begins; undefined for the first record
 * @param most the most records to read @default all
 * @returns `next` is the position to continue from; undefined after the last record
 */
export async function countFrom(
  driver: Driver,
  entities: readonly EntityLike[],
  from: KeyPosition | undefined,
  most?: number,
): Promise<{ readonly usages: readonly KeyUsage[]; readonly next: KeyPosition | undefined }> {
  refuseProtected(driver);
  const start: KeyPosition = from ?? { entity: null, after: null, finished: [] };
  const usages: KeyUsage[] = [];
  let finished = start.finished;
  let left = most;
  for (const plan of plansOf(entities, start)) {
    const { entity, fields } = plan;
    const counts = fields.map((field) => ({ field, values: new Map<string | null, number>() }));
    let after = startIn(plan, start);
    const query = { where: withValues(plan, after), select: ["id", ...fields], limit: left };
    for await (const rows of driver.stream(entity, query, BATCH))
      for (const row of rows) {
        for (const { field, values } of counts) {
          if (row[field] === null) continue;
          const keyId = getEncryptionKeyId(row[field] as string);
          values.set(keyId, (values.get(keyId) ?? 0) + 1);
        }
        after = row.id as string;
        if (left !== undefined) left -= 1;
      }
    for (const { field, values } of counts)
      for (const [keyId, number] of values) usages.push({ entity: entity.name, field, keyId, values: number });
    if (left === 0) return { usages, next: { entity: entity.name, after, finished } };
    finished = [...finished, entity.name];
  }
  return { usages, next: undefined };
}

/**
 * The number of values that may become unreadable when a key is removed: those with its id, and those without any id.
 * The key can be removed when the number is 0.
 */
export function valuesNeeding(keyId: string, usages: readonly KeyUsage[]): number {
  const needing = usages.filter((usage) => usage.keyId === keyId || usage.keyId === null);
  return needing.reduce((sum, { values }) => sum + values, 0);
}
