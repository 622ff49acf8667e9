import type { Driver } from "../../src/kernel/index.ts";

/** The driver, with every call counted. */
export function countCalls(driver: Driver, calls: { count: number }): Driver {
  // Over an empty object: the driver itself may be frozen, and a proxy must not lie about frozen properties.
  return new Proxy({} as Driver, {
    get(_target, name) {
      const value: unknown = Reflect.get(driver, name, driver);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        calls.count += 1;
        return value.apply(driver, args);
      };
    },
  });
}
