import { ConfigurationError } from "../../../entity/index.ts";
import { type Driver, overlayDriver } from "../../../kernel/index.ts";

/** What marks drivers that hash or encrypt. A property, so that whatever is put around such a driver shows it, too. */
export const kProtected: unique symbol = Symbol("keelson.protected");

export type ProtectedDriver = Driver & { readonly [kProtected]: true };

/** Marks a driver that hashes or encrypts, and those of its transactions. */
export function markProtected(driver: Driver): Driver {
  const own: Partial<ProtectedDriver> = {
    [kProtected]: true,
    transaction: (work, options) => driver.transaction((inner) => work(markProtected(inner)), options),
  };
  return overlayDriver(driver, own);
}

/**
 * Hashing twice locks everybody out, and encrypting twice is not noticed until the outer layer is gone.
 * @throws ConfigurationError for a driver that hashes or encrypts already
 */
export function refuseProtected(driver: Driver): void {
  if ((driver as Partial<ProtectedDriver>)[kProtected] !== true) return;
  throw new ConfigurationError(
    "this driver hashes and encrypts already, and would do it twice; pass the base driver, such as api.driver",
  );
}
