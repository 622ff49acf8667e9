import {
  type AnyEntity,
  type ColumnDefinition,
  ConfigurationError,
  canHold,
  type EntityModel,
  type FieldDefinition,
} from "../../../entity/index.ts";
import { type Driver, type EntityRef, entityName, type PluginContext, type Row } from "../../../gate/index.ts";
import { DatabaseError, DatabaseUnavailableError, DecryptionError, type Logger } from "../../../kernel/index.ts";
import { type AppEncryption, keysOfApp } from "../encryption/app-keys.ts";
import { blindIndex, blindIndexColumn } from "../encryption/blind-index.ts";
import { decrypt } from "../encryption/cipher.ts";
import { type KeyRing, lacksIndexKey } from "../encryption/key-ring.ts";

/** An encrypted column and its blind index. */
export interface EncryptedColumn {
  readonly name: string;
  /** Column of the blind index; undefined if the field is not searchable. */
  readonly index: string | undefined;
  /** The column without encryption, whose type its values must have. */
  readonly inClear: ColumnDefinition;
}

/** The result of a value that cannot be decrypted. */
export type OnDecryptError = "fail" | "null";

/** The encrypted fields of an app, compiled at setup. */
export interface EncryptionPlan {
  readonly model: EntityModel;
  readonly ring: KeyRing;
  readonly onDecryptError: OnDecryptError;
  /** Whether values from before the field was encrypted are returned as plaintext. */
  readonly allowPlaintext: boolean;
  readonly log: Logger;
  /** Encrypted columns of an entity; undefined when it has none. */
  columnsOf(entity: EntityRef): readonly EncryptedColumn[] | undefined;
  /** Whether conditions on an entity can reach an encrypted column, on the entity itself or a related one. */
  reaches(entity: EntityRef): boolean;
}

/** Options of an app's encrypted fields. */
interface EncryptedFieldsOptions {
  readonly encryption?: AppEncryption | undefined;
  readonly onDecryptError?: OnDecryptError | undefined;
  readonly allowPlaintext?: boolean | undefined;
}

/**
 * Compiles the plan of an app's encrypted fields and reports all problems. Undefined if no field is encrypted.
 * @throws ConfigurationError when a key is malformed
 */
export function setUpEncryption(
  { entities, log, problem }: Pick<PluginContext, "entities" | "log" | "problem">,
  { encryption, onDecryptError = "fail", allowPlaintext = false }: EncryptedFieldsOptions,
): EncryptionPlan | undefined {
  const ring = keysOfApp(encryption, log);
  const plan = compileEncryption(entities, { ring, onDecryptError, allowPlaintext, log });
  if (plan === undefined) return undefined;
  for (const sentence of [...searchProblems(entities), ...keyProblems(plan), ...idProblems(plan)]) problem(sentence);
  return plan;
}

/** Compiles the plan of an app; undefined if no field is encrypted. */
function compileEncryption(
  model: EntityModel,
  options: Pick<EncryptionPlan, "ring" | "onDecryptError" | "allowPlaintext" | "log">,
): EncryptionPlan | undefined {
  const columns = new Map<string, readonly EncryptedColumn[]>();
  for (const entity of model.entities) {
    const own = encryptedColumns(entity);
    if (own.length > 0) columns.set(entity.name, own);
  }
  if (columns.size === 0) return undefined;
  const reaching = reachingEntities(model, columns);
  return Object.freeze({
    ...options,
    model,
    columnsOf: (entity: EntityRef) => columns.get(entityName(entity)),
    reaches: (entity: EntityRef) => reaching.has(entityName(entity)),
  });
}

function encryptedColumns(entity: AnyEntity): EncryptedColumn[] {
  return Object.values(entity.columns)
    .filter(({ field }) => field?.encrypted !== undefined)
    .map(({ field, ...column }) => ({
      name: column.name,
      index: blindIndexColumn(entity, column.name),
      inClear: { ...column, kind: (field as FieldDefinition).kind },
    }));
}

/** Entities with an encrypted column, or a chain of relations to one. */
function reachingEntities(model: EntityModel, columns: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const reaching = new Set(columns.keys());
  for (let size = -1; size !== reaching.size; ) {
    size = reaching.size;
    for (const entity of model.entities)
      for (const name of Object.keys(entity.relations)) {
        const target = model.relation(entity, name)?.target.name;
        if (target !== undefined && reaching.has(target)) reaching.add(entity.name);
      }
  }
  return reaching;
}

function keyProblems({ model, ring, columnsOf }: EncryptionPlan): string[] {
  const columns = model.entities.flatMap((entity) =>
    (columnsOf(entity) ?? []).map(({ name, index }) => ({ name: `${entity.name}.${name}`, index })),
  );
  const list = (some: typeof columns): string => some.map(({ name }) => name).join(", ");
  const searchable = columns.filter(({ index }) => index !== undefined);
  if (ring.primary === null)
    return [
      `${list(columns)}: .encrypted() needs a key; pass encryption: { key } or set KEELSON_ENCRYPTION_KEY (generateEncryptionKey() makes one)`,
    ];
  if (searchable.length === 0 || !lacksIndexKey(ring)) return [];
  return [
    `${list(searchable)}: { searchable: true } and more than one key need an index key; pass encryption: { …, indexKey } with the key that was there first, and keep it after that key is removed`,
  ];
}

/**
 * A sentence for each entity whose values cannot be bound to their record, because it has no id before it is stored.
 */
function idProblems({ model, columnsOf }: EncryptionPlan): string[] {
  return model.entities
    .filter((entity) => entity.idsFrom === "database" && columnsOf(entity) !== undefined)
    .map(({ name }) => `${name}: encrypted fields are bound to the id, so ids cannot come from the database`);
}

/** A sentence for each searchable field whose values cannot have a blind index. */
function searchProblems(model: EntityModel): string[] {
  return model.entities.flatMap(({ name, fields }) =>
    Object.entries(fields)
      .filter(([, { kind, encrypted }]) => encrypted?.searchable && !kind.operators.has("eq"))
      .map(([field]) => `${name}.${field}: such values cannot be compared; leave { searchable: true } out`),
  );
}

/** Placeholder for text: encrypted fields may hold text that no column can, such as a NUL character. */
const ANY_TEXT = "text";

/** Whether a value has the type of its field. */
export function suits({ inClear }: EncryptedColumn, value: unknown): boolean {
  const isAnyText = typeof value === "string" && inClear.kind.convert === undefined;
  return canHold(inClear, isAnyText ? ANY_TEXT : value);
}

/** Records to check. Several, because one manipulated record must not keep the app from starting. */
const SAMPLE = 5;

/**
 * Compares a few stored blind indexes with those that the app would compute. With another index key, searches would
 * silently find nothing, and unique fields would accept duplicates.
 * @param driver the base driver, connected
 * @throws ConfigurationError, DatabaseUnavailableError
 */
export async function checkIndexes(driver: Driver, plan: EncryptionPlan): Promise<void> {
  const problems: string[] = [];
  for (const entity of plan.model.entities)
    for (const column of plan.columnsOf(entity) ?? []) {
      if (column.index === undefined) continue;
      const rows = await sample(driver, entity, column.name, column.index);
      const verdicts = rows.flatMap((row) => agrees(plan, entity, column, row) ?? []);
      if (verdicts.length > 0 && !verdicts.includes(true)) problems.push(problemOf(entity, column));
    }
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function problemOf(entity: AnyEntity, { name }: EncryptedColumn): string {
  return (
    `${entity.name}.${name}: the blind indexes that are stored were made with another key; pass encryption: ` +
    "{ …, indexKey } with the key that was there first, or, if that is lost, run rotateEncryptionKeys({ …, reindex: true })"
  );
}

async function sample(driver: Driver, entity: AnyEntity, name: string, index: string): Promise<Row[]> {
  try {
    const where = { [name]: { null: false }, [index]: { null: false } };
    return await driver.findMany(entity, { where, select: ["id", name, index], limit: SAMPLE });
  } catch (error) {
    // A missing table is reported by the code that uses it.
    if (error instanceof DatabaseError && !(error instanceof DatabaseUnavailableError)) return [];
    throw error;
  }
}

/** Whether the stored blind index is the expected one; undefined if the value cannot be decrypted. */
function agrees({ ring }: EncryptionPlan, entity: AnyEntity, column: EncryptedColumn, row: Row): boolean | undefined {
  const { name, index } = column;
  const place = { entity: entity.name, field: name, id: row.id as string };
  try {
    const value = decrypt(ring, row[name], place);
    return suits(column, value) ? blindIndex(ring, place, value as string) === row[index as string] : undefined;
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}
