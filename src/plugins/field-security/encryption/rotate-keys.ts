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
   * Keys as the app is given them; the first is the one that values move to.
   * @default KEELSON_ENCRYPTION_KEY, or else the keys of `initEncryption`
   */
  readonly encryption?: AppEncryption | undefined;
  /** Keys in a ring of your own, in place of `encryption`. */
  readonly ring?: KeyRing | undefined;
  /** Entities without encrypted fields are passed over. */
  readonly entities: readonly EntityLike[];
  /** Records read at a time. @default 200 */
  readonly batchSize?: number | undefined;
  /**
   * Encrypts values from before their field was encrypted, with their blind indexes; without it they count as failed.
   * @default false
   */
  readonly allowPlaintext?: boolean | undefined;
  /**
   * Makes blind indexes anew where they are not those of the index key there is now: after that key was lost or changed,
   * or when a field has become searchable.
   * @default false
   */
  readonly reindex?: boolean | undefined;
  /** Called after every batch, and awaited: the place to save progress. */
  readonly onProgress?: ((progress: RotationProgress) => unknown) | undefined;
  readonly onFailure?: ((failure: RotationFailure) => unknown) | undefined;
  /**
   * Progress of a rotation that was cut off. It saves time and nothing else: what has the new key is skipped anyway.
   * @default none; progress towards another key counts as none
   */
  readonly resumeFrom?: RotationProgress | undefined;
  /** Stops the rotation between two records. */
  readonly signal?: AbortSignal | undefined;
}

/** How far a rotation is. Plain data: kept as JSON, it lets another process go on where this one was. */
export interface RotationProgress {
  /** Id of the key that values move to. */
  readonly keyId: string;
  /** Entity being worked on; `null` before the first and after the last. */
  readonly entity: string | null;
  /** Id of its last record that is done; `null` while none is. */
  readonly after: string | null;
  /** Entities that are done. */
  readonly finished: readonly string[];
  /** Records there were to look at when it began: those that hold any ciphertext. */
  readonly total: number;
  /** Records looked at. */
  readonly records: number;
  /** Values that were given the new key, or another blind index. */
  readonly reEncrypted: number;
  /** How often a record had changed since it was read; it was read again. */
  readonly overtaken: number;
  /** Values that do not decrypt; they stay as they are. */
  readonly failed: number;
}

/** What a rotation came to. */
export interface RotationResult extends RotationProgress {
  /** `false` when the signal stopped it before the end. */
  readonly complete: boolean;
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
        await setImmediate(); // an embedded database answers at once: requests have to have their turn too
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

/** What is left to look at, from a position. */
function plansOf(entities: readonly EntityLike[], { finished }: Pick<KeyPosition, "finished">): readonly Plan[] {
  return entities
    .map((entity) => resolveEntity(entity) as AnyEntity)
    .map((entity) => ({ entity, fields: encryptedFieldsOf(entity) }))
    .filter(({ entity, fields }) => fields.length > 0 && !finished.includes(entity.name));
}

function startIn({ entity }: Plan, position: KeyPosition): string | null {
  return position.entity === entity.name ? position.after : null;
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

/** How many stored values of one field a key has. */
export interface KeyUsage {
  readonly entity: string;
  readonly field: string;
  /** `null`: values that name no key, which may have any, and what is no encrypted value. */
  readonly keyId: string | null;
  readonly values: number;
}

/**
 * Counts stored values by entity, field and key, including those of keys that are no longer registered. Reads every row.
 * @param driver the base driver, which sees ciphertext
 * @throws ConfigurationError for one that decrypts
 */
export async function countValuesPerKey(driver: Driver, entities: readonly EntityLike[]): Promise<KeyUsage[]> {
  const { usages } = await countFrom(driver, entities, undefined);
  return [...usages];
}

/**
 * The same of some records, which may be all that are left.
 * @param from the position after which it begins; undefined for the first record
 * @param most records that are read
 * @returns `next` is undefined after the last record
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
 * How many values may become unreadable when a key is removed: those that name it, and those that name none. A key can
 * go when it is 0.
 */
export function valuesNeeding(keyId: string, usages: readonly KeyUsage[]): number {
  const needing = usages.filter((usage) => usage.keyId === keyId || usage.keyId === null);
  return needing.reduce((sum, { values }) => sum + values, 0);
}
