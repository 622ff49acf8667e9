import type { Driver } from "./driver.ts";

/** A driver with some methods of its own; for all others it is the one inside. */
export function overlayDriver(inner: Driver, own: Partial<Driver>): Driver {
  return new Proxy(own as Driver, {
    get(_, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(inner, name);
      return typeof value === "function" ? value.bind(inner) : value;
    },
  });
}
