import { ConfigurationError, type EntityModel } from "../../entity/index.ts";
import type { Driver } from "../../gate/index.ts";
import { getLogger, safeLogger } from "../../kernel/index.ts";
import { PROTECTED, refuseProtected } from "./encryption/protected-driver.ts";
import type { FieldSecurityOptions } from "./field-security-options.ts";
import { createPasswordHasher } from "./password/create-password-hasher.ts";
import { hashingDriver } from "./password/hashing-driver.ts";
import { passwordColumns } from "./password/password-columns.ts";
import { reportCosts } from "./password/report-costs.ts";
import { encryptingDriver } from "./storage/encrypting-driver.ts";
import { setUpEncryption } from "./storage/set-up-encryption.ts";

/**
 * A driver that hashes and encrypts what it is given to store, and decrypts what it returns: what the plugin puts around
 * the driver of an app, for code without one.
 * @throws ConfigurationError with everything that would keep an app from starting; for a driver that is protected already
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
  return columns.size === 0 ? encrypting : hashingDriver(encrypting, { columns, hasher, capabilities: PROTECTED });
}
