// field-security: hashes passwords, and encrypts, hides or guards single fields, in every output path.
// Specification sections 2.3, 2.4 and 4.1 rule 2.
import { ConfigurationError, type EntityModel } from "../../entity/index.ts";
import {
  createPlugin,
  type Driver,
  EncryptionKeys,
  FieldRules,
  type OperationScope,
  type Plugin,
  type PluginContext,
  waitBriefly,
} from "../../gate/index.ts";
import { getLogger, safeLogger, unknownKeys } from "../../kernel/index.ts";
import type { AppEncryption } from "./encryption/app-keys.ts";
import { refuseProtected } from "./encryption/protected-driver.ts";
import { countFrom, rotateEncryptionKeys } from "./encryption/rotate-keys.ts";
import { dropUnwritable } from "./fields/drop-unwritable.ts";
import { judgeRecords } from "./fields/judge-records.ts";
import { compileFieldPlans, hasFieldRules, narrowMask } from "./fields/narrow-mask.ts";
import { hashColumns, hashingDriver } from "./password/hashing-driver.ts";
import { type PasswordColumn, passwordColumns, reportCosts } from "./password/password-cost.ts";
import { createPasswordHasher, type PasswordHasher, type PasswordHasherOptions } from "./password/password-hasher.ts";
import { encryptingDriver } from "./storage/encrypting-driver.ts";
import { checkIndexes, type EncryptionPlan, type OnDecryptError, setUpEncryption } from "./storage/encryption-plan.ts";

export type { AppEncryption } from "./encryption/app-keys.ts";

export { getEncryptionKeyId } from "./encryption/cipher.ts";
export { generateEncryptionKey } from "./encryption/data-key.ts";
export * from "./encryption/functions.ts";

export type { RotationProgress, RotationResult } from "./encryption/rotate-keys.ts";
export { countValuesPerKey, type KeyUsage, rotateEncryptionKeys, valuesNeeding } from "./encryption/rotate-keys.ts";
export type { RotationFailure } from "./encryption/rotate-record.ts";

export { hashPassword, needsRehash, verifyPassword } from "./password/hash-password.ts";

export {
  createPasswordHasher,
  type PasswordHasher,
  type PasswordHasherOptions,
} from "./password/password-hasher.ts";
export type { OnDecryptError } from "./storage/encryption-plan.ts";

// Hooks: access:mask, operation:validate and operation:reveal (fields with their own rules), operation:protect
// (hashing). Wraps drivers: encryption, and hashing for handlers. Service used: rules.fields.

/** Options of `fieldSecurity`. */
export interface FieldSecurityOptions {
  /** Keys of this app. @default KEELSON_ENCRYPTION_KEY, or else the keys of `initEncryption` */
  readonly encryption?: AppEncryption | undefined;
  /** Whether a value that cannot be decrypted fails the request or reads as null. @default "fail" */
  readonly onDecryptError?: OnDecryptError | undefined;
  /**
   * For a migration: values from before the field was encrypted are returned as plaintext. Anyone who can write to the
   * database can then store values without a key.
   * @default false
   */
  readonly allowPlaintext?: boolean | undefined;
  /** How many passwords are hashed at once, and how many wait. @default as `createPasswordHasher` */
  readonly passwords?: PasswordHasherOptions | undefined;
}

const KNOWN: Readonly<Record<keyof FieldSecurityOptions, true>> = {
  encryption: true,
  onDecryptError: true,
  allowPlaintext: true,
  passwords: true,
};

/** Services: `EncryptionKeys` in an app with encrypted fields; the app's own `PasswordHasher`. */
const PASSWORDS_SERVICE = "field-security.passwords";

/** Adds field security. An app with protected fields does not start without it. */
export function fieldSecurity(options: FieldSecurityOptions = {}): Plugin {
  const hasher = createPasswordHasher(options.passwords);
  return createPlugin({
    id: "field-security",
    version: "1.0.0",
    provides: ["password", "omit", "encrypted", "field-rules"],
    setup(context) {
      for (const sentence of unknownKeys(options, Object.keys(KNOWN))) context.problem(`field-security: ${sentence}`);
      const encryption = setUpEncryption(context, options);
      if (encryption !== undefined) context.provide(EncryptionKeys, () => keysOf(context, encryption));
      const passwords = setUpPasswords(context, hasher);
      setUpFieldRules(context);
      return { encryption, passwords };
    },
    async start({ driver }, { encryption }) {
      if (encryption !== undefined) await checkIndexes(driver, encryption);
    },
    wrapDriver(driver, _context, { encryption, passwords }) {
      if (encryption !== undefined || passwords.size > 0) refuseProtected(driver);
      return encryption === undefined ? driver : encryptingDriver(driver, encryption);
    },
    wrapHandlerDriver: (driver, _context, _scope, { passwords }) =>
      passwords.size === 0 ? driver : hashingDriver(driver, passwords, hasher),
  });
}

/** The service `EncryptionKeys`: rotates and counts on the base driver, which sees ciphertext. */
function keysOf(
  { driver, entities: { entities } }: PluginContext,
  { ring, allowPlaintext }: EncryptionPlan,
): EncryptionKeys {
  return {
    ids: [...new Set([...(ring.primary === null ? [] : [ring.primary]), ...ring.ids])],
    count: (from, records) => countFrom(driver, entities, from, records),
    rotate(resumeFrom, batchSize) {
      const stop = new AbortController();
      const { signal } = stop;
      return rotateEncryptionKeys({
        ...{ driver, ring, entities, allowPlaintext, resumeFrom, batchSize, signal },
        onProgress: () => stop.abort(),
      });
    },
  };
}

function setUpPasswords(
  { entities, hooks, provide, config, log, problem }: PluginContext,
  hasher: PasswordHasher,
): ReadonlyMap<string, readonly PasswordColumn[]> {
  const columns = passwordColumns(entities);
  if (columns.size === 0) return columns;
  provide(PASSWORDS_SERVICE, () => hasher);
  reportCosts(columns, { production: config.production, log, problem });
  hooks.on(
    "operation:protect",
    async (operation) => {
      const { entity, data, scope, ids } = operation;
      const own = columns.get(entity.name) ?? [];
      // Each record gets its own hash.
      if (ids !== undefined && own.some(({ name }) => data[name] !== undefined)) operation.apart = true;
      else if (own.some(({ name }) => data[name] !== undefined))
        operation.data = await hashColumns(hasher, own, data, patienceOf(scope));
    },
    {
      appliesTo: ({ name }, kind) => columns.has(name) && (kind === "create" || kind === "update"),
      timeout: 0, // the queue has its own limit; waiting in it is not the hook's fault
    },
  );
  return columns;
}

/** How long a password waits for its turn: as long as its request, but only briefly in a transaction of the caller. */
function patienceOf(scope: OperationScope): AbortSignal | undefined {
  const most = waitBriefly(scope);
  const signal = scope.exchange?.signal;
  if (most === undefined) return signal;
  const timeout = AbortSignal.timeout(most);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

function setUpFieldRules({ entities, hooks, has, use, problem }: PluginContext): void {
  if (!hasFieldRules(entities)) return;
  if (!has(FieldRules)) {
    problem("fields with .readable() or .writable() need the plugin rules, listed before field-security");
    return;
  }
  const plans = compileFieldPlans(entities, use(FieldRules));
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

/**
 * Wraps a driver so that it hashes and encrypts values before they are stored and decrypts values that it returns. For
 * code without an app.
 * @throws ConfigurationError with all problems that would keep an app from starting, and for a driver that is already
 * protected
 */
export function protectDriver(driver: Driver, entities: EntityModel, options: FieldSecurityOptions = {}): Driver {
  const problems: string[] = [];
  const problem = (sentence: string): void => void problems.push(sentence);
  const log = safeLogger(getLogger());
  const hasher = createPasswordHasher(options.passwords);
  const plan = setUpEncryption({ entities, log, problem }, options);
  const columns = passwordColumns(entities);
  reportCosts(columns, { production: process.env.NODE_ENV === "production", log, problem });
  if (problems.length > 0) throw new ConfigurationError(problems);
  if (plan !== undefined || columns.size > 0) refuseProtected(driver);
  const encrypting = plan === undefined ? driver : encryptingDriver(driver, plan);
  return columns.size === 0 ? encrypting : hashingDriver(encrypting, columns, hasher);
}
