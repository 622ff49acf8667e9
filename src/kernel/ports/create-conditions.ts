import type { Driver } from "./driver.ts";
import { readsJoins, withJoins } from "./joining-driver.ts";

const conditional = new WeakSet<object>();

/**
 * Says that `create` of this very driver takes a `where`; others are never given one, and the gate asks before it stores.
 * A driver around another one says it of itself, when it passes the `where` on in the words of the inner one.
 * @returns the driver
 */
export function withCreateConditions<D extends Driver>(driver: D): D {
  conditional.add(driver);
  return driver;
}

/** Whether `create` of a driver takes a `where`. */
export function takesCreateConditions(driver: Driver): boolean {
  return conditional.has(driver);
}

/** A layer that treats joined records and conditions of creates as its inner driver wants them: it takes what that takes. */
export function withAbilitiesOf<D extends Driver>(inner: Driver, layer: D): D {
  if (readsJoins(inner)) withJoins(layer);
  return takesCreateConditions(inner) ? withCreateConditions(layer) : layer;
}
