import type { AnyEntity, ColumnDefinition, EntityModel, FieldDefinition } from "../../../entity/index.ts";
import { type EntityRef, entityName } from "../../../gate/index.ts";
import type { Logger } from "../../../kernel/index.ts";
import { blindIndexColumn } from "../encryption/blind-index-column.ts";
import type { KeyRing } from "../encryption/key-ring.ts";

/** An encrypted column, and the one that finds its values. */
export interface EncryptedColumn {
  readonly name: string;
  /** Column of the blind index; undefined where the field is not searchable. */
  readonly index: string | undefined;
  /** The column as it would be in clear: values are what it could hold. */
  readonly inClear: ColumnDefinition;
}

/** What a value that cannot be decrypted comes to. */
export type OnDecryptError = "fail" | "null";

/** What is known of an app's encrypted fields before any statement runs. */
export interface EncryptionPlan {
  readonly model: EntityModel;
  readonly ring: KeyRing;
  readonly onDecryptError: OnDecryptError;
  /** Whether values from before the field was encrypted are returned as they are. */
  readonly allowPlaintext: boolean;
  readonly log: Logger;
  /** Encrypted columns of an entity; undefined when it has none. */
  columnsOf(entity: EntityRef): readonly EncryptedColumn[] | undefined;
  /** Whether conditions on an entity can reach an encrypted column, its own or of a related one. */
  reaches(entity: EntityRef): boolean;
}

/** Compiles the plan of an app; undefined when no field is encrypted. */
export function compileEncryption(
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

/** Entities from which relations lead to an encrypted column, however far. */
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
