import { ConfigurationError } from "../../../entity/index.ts";
import type { Driver, DriverCapabilities } from "../../../gate/index.ts";

const kProtected: unique symbol = Symbol("keelson.protected");

interface Protected extends Partial<DriverCapabilities> {
  readonly [kProtected]: true;
}

/** Marks drivers that hash or encrypt. It is a capability, so drivers that wrap such a driver are marked, too. */
export const PROTECTED: Protected = Object.freeze({ [kProtected]: true as const });

/**
 * Refuses to protect a driver twice. Hashing twice would lock out all users, and encrypting twice stays unnoticed until
 * one of the layers is removed.
 * @throws ConfigurationError for a driver that already hashes or encrypts
 */
export function refuseProtected({ capabilities }: Driver): void {
  if (!(kProtected in capabilities)) return;
  throw new ConfigurationError(
    "this driver hashes and encrypts already, and would do it twice; pass the base driver, such as api.driver",
  );
}
