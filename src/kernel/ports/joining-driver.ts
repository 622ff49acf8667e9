import type { Driver } from "./driver.ts";

const joining = new WeakSet<object>();

/**
 * Says that `findMany` of this very driver takes `join`; others are never given one. Whatever is put around it, made of it, or
 * inherits from it has not said so: a layer that changes rows has to change joined ones, too, before it does.
 * @returns the driver
 */
export function withJoins<D extends Driver>(driver: D): D {
  joining.add(driver);
  return driver;
}

/** Whether `findMany` of a driver takes `join`. */
export function readsJoins(driver: Driver): boolean {
  return joining.has(driver);
}
