import { ConfigurationError } from "../../../entity/index.ts";
import type { Driver, DriverCapabilities } from "../../../gate/index.ts";

const kProtected: unique symbol = Symbol("keelson.protected");

interface Protected extends Partial<DriverCapabilities> {
  readonly [kProtected]: true;
}

/** Marks drivers that hash or encrypt. A capability, so that whatever is put around such a driver has it, too. */
export const PROTECTED: Protected = Object.freeze({ [kProtected]: true as const });

/**
 * Hashing twice locks everybody out, and encrypting twice is not noticed until the outer layer is gone.
 * @throws ConfigurationError for a driver that hashes or encrypts already
 */
export function refuseProtected({ capabilities }: Driver): void {
  if (!(kProtected in capabilities)) return;
  throw new ConfigurationError(
    "this driver hashes and encrypts already, and would do it twice; pass the base driver, such as api.driver",
  );
}
