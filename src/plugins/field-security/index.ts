// field-security: passwords are hashed, fields encrypted, hidden or guarded by rules of their own, in every output path.
// Specification sections 2.3, 2.4 and 4.1 rule 2.
import type { FieldRules } from "../../gate/index.ts";
import { createPlugin, type Plugin, type PluginContext } from "../../gate/index.ts";
import { unknownKeys } from "../../kernel/index.ts";
import { PROTECTED, refuseProtected } from "./encryption/protected-driver.ts";
import type { FieldSecurityOptions } from "./field-security-options.ts";
import { dropUnwritable } from "./fields/drop-unwritable.ts";
import { compileFieldPlans, hasFieldRules } from "./fields/field-plan.ts";
import { judgeRecords } from "./fields/judge-records.ts";
import { narrowMask } from "./fields/narrow-mask.ts";
import { createPasswordHasher, type PasswordHasher } from "./password/create-password-hasher.ts";
import { hashColumns } from "./password/hash-columns.ts";
import { hashingDriver } from "./password/hashing-driver.ts";
import { type PasswordColumn, passwordColumns } from "./password/password-columns.ts";
import { reportCosts } from "./password/report-costs.ts";
import { checkIndexes } from "./storage/check-indexes.ts";
import { encryptingDriver } from "./storage/encrypting-driver.ts";
import type { EncryptionPlan } from "./storage/encryption-plan.ts";
import { setUpEncryption } from "./storage/set-up-encryption.ts";

export type { AppEncryption, FurtherKey } from "./encryption/app-keys.ts";
export type { BindingContext } from "./encryption/binding.ts";
export { countValuesPerKey, type KeyUsage, valuesNeeding } from "./encryption/count-values-per-key.ts";
export { generateEncryptionKey } from "./encryption/data-key.ts";
export { getEncryptionKeyId } from "./encryption/envelope.ts";
export * from "./encryption/functions.ts";
export { createKeyRing, type KeyOptions, type KeyRing, type KeyRingOptions } from "./encryption/key-ring.ts";
export type { ReEncryptOptions } from "./encryption/re-encrypt.ts";
export { rotateEncryptionKeys } from "./encryption/rotate-keys.ts";
export type { RotationFailure, RotationOptions, RotationProgress, RotationResult } from "./encryption/rotation.ts";
export type { Encryptable } from "./encryption/value-codec.ts";
export type { FieldSecurityOptions } from "./field-security-options.ts";
export {
  createPasswordHasher,
  type PasswordCostOptions,
  type PasswordHasher,
  type PasswordHasherOptions,
  type PasswordWorkOptions,
} from "./password/create-password-hasher.ts";
export { hashPassword } from "./password/hash-password.ts";
export { needsRehash } from "./password/needs-rehash.ts";
export type { PasswordCost } from "./password/password-cost.ts";
export { verifyPassword } from "./password/verify-password.ts";
export { protectDriver } from "./protect-driver.ts";
export type { OnDecryptError } from "./storage/encryption-plan.ts";

// Hooks: access:mask, operation:validate and operation:reveal (fields with rules of their own), operation:protect (hashes);
// around drivers: encryption, and hashing for handlers. Service used: rules.fields.

/** Service: `PasswordHasher`, the app's own. */
const PASSWORDS_SERVICE = "field-security.passwords";

const KNOWN: readonly (keyof FieldSecurityOptions)[] = ["encryption", "onDecryptError", "allowPlaintext", "passwords"];

/** Field security: without it, an app with protected fields does not start. */
export function fieldSecurity(options: FieldSecurityOptions = {}): Plugin {
  let encryption: EncryptionPlan | undefined;
  let passwords: ReadonlyMap<string, readonly PasswordColumn[]> = new Map();
  const hasher = createPasswordHasher(options.passwords);
  return createPlugin({
    id: "field-security",
    version: "1.0.0",
    provides: ["password", "omit", "encrypted", "field-rules"],
    setup(context) {
      for (const sentence of unknownKeys(options, KNOWN)) context.problem(`field-security: ${sentence}`);
      encryption = setUpEncryption(context, options);
      passwords = setUpPasswords(context, hasher);
      setUpFieldRules(context);
    },
    async start({ driver }) {
      if (encryption !== undefined) await checkIndexes(driver, encryption);
    },
    wrapDriver(driver) {
      if (encryption !== undefined || passwords.size > 0) refuseProtected(driver);
      return encryption === undefined ? driver : encryptingDriver(driver, encryption);
    },
    wrapHandlerDriver: (driver) =>
      passwords.size === 0 ? driver : hashingDriver(driver, { columns: passwords, hasher, capabilities: PROTECTED }),
  });
}

function setUpPasswords(
  { entities, hooks, services, config, log, problem }: PluginContext,
  hasher: PasswordHasher,
): ReadonlyMap<string, readonly PasswordColumn[]> {
  const columns = passwordColumns(entities);
  if (columns.size === 0) return columns;
  services.register(PASSWORDS_SERVICE, () => hasher);
  reportCosts(columns, { production: config.production, log, problem });
  hooks.on(
    "operation:protect",
    async (operation) => {
      const { entity, data, scope, ids } = operation;
      const own = columns.get(entity.name) ?? [];
      // Each record gets a hash of its own.
      if (ids !== undefined && own.some(({ name }) => data[name] !== undefined)) operation.apart = true;
      else operation.data = await hashColumns(hasher, own, data, scope.signal);
    },
    {
      appliesTo: ({ name }, kind) => columns.has(name) && (kind === "create" || kind === "update"),
      timeout: 0, // the queue has a limit of its own; waiting in it is no fault of the hook
    },
  );
  return columns;
}

function setUpFieldRules({ entities, hooks, services, problem }: PluginContext): void {
  if (!hasFieldRules(entities)) return;
  if (!services.has("rules.fields")) {
    problem("fields with .readable() or .writable() need the plugin rules, listed before field-security");
    return;
  }
  const plans = compileFieldPlans(entities, services.resolve<FieldRules>("rules.fields"));
  hooks.on("access:mask", (draft) => narrowMask(plans.get(draft.entity) ?? [], draft), {
    appliesTo: (entity) => plans.has(entity),
    timeout: 0,
  });
  hooks.on("operation:validate", (operation) => dropUnwritable(plans.get(operation.entity) ?? [], operation), {
    appliesTo: (entity, kind) =>
      (kind === "create" || kind === "update") && plans.get(entity)?.some(({ writable }) => writable) === true,
    timeout: 0,
  });
  hooks.on("operation:reveal", judgeRecords, {
    appliesTo: (entity) => plans.get(entity)?.some(({ readable }) => readable) === true,
    timeout: 0,
  });
}
