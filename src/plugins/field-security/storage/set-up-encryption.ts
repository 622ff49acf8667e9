import type { EntityModel } from "../../../entity/index.ts";
import type { PluginContext } from "../../../gate/index.ts";
import { type AppEncryption, keysOfApp } from "../encryption/app-keys.ts";
import { type KeyRing, storeOf } from "../encryption/key-ring.ts";
import { lacksIndexKey } from "../encryption/key-store.ts";
import { compileEncryption, type EncryptionPlan, type OnDecryptError } from "./encryption-plan.ts";

/** What an app says about its encrypted fields. */
export interface EncryptedFieldsOptions {
  readonly encryption?: AppEncryption | undefined;
  readonly onDecryptError?: OnDecryptError | undefined;
  readonly allowPlaintext?: boolean | undefined;
}

/**
 * The plan of an app's encrypted fields, with everything reported that keeps them from working; undefined when there are
 * none.
 * @throws ConfigurationError when a key is malformed
 */
export function setUpEncryption(
  { entities, log, problem }: Pick<PluginContext, "entities" | "log" | "problem">,
  { encryption, onDecryptError = "fail", allowPlaintext = false }: EncryptedFieldsOptions,
): EncryptionPlan | undefined {
  const ring = keysOfApp(encryption, log);
  const plan = compileEncryption(entities, { ring, onDecryptError, allowPlaintext, log });
  if (plan === undefined) return undefined;
  for (const sentence of [...searchProblems(entities), ...keyProblems(plan, ring)]) problem(sentence);
  return plan;
}

function keyProblems(plan: EncryptionPlan, ring: KeyRing): string[] {
  const columns = plan.model.entities.flatMap((entity) =>
    (plan.columnsOf(entity) ?? []).map(({ name, index }) => ({ name: `${entity.name}.${name}`, index })),
  );
  const list = (some: typeof columns): string => some.map(({ name }) => name).join(", ");
  const searchable = columns.filter(({ index }) => index !== undefined);
  if (ring.primary === null)
    return [
      `${list(columns)}: .encrypted() needs a key; pass encryption: { key } or set KEELSON_ENCRYPTION_KEY (generateEncryptionKey() makes one)`,
    ];
  if (searchable.length === 0 || !lacksIndexKey(storeOf(ring))) return [];
  return [
    `${list(searchable)}: { searchable: true } and more than one key need an index key; pass encryption: { …, indexKey } with the key that was there first, and keep it after that key is removed`,
  ];
}

/** A sentence for every field whose values have no blind index. */
function searchProblems(model: EntityModel): string[] {
  return model.entities.flatMap(({ name, fields }) =>
    Object.entries(fields)
      .filter(([, { kind, encrypted }]) => encrypted?.searchable && !kind.operators.has("eq"))
      .map(([field]) => `${name}.${field}: such values cannot be compared; leave { searchable: true } out`),
  );
}
