import { nearest } from "./did-you-mean.ts";
import { ConfigurationError } from "./keelson-error.ts";

/** Makes calls of a class's misspelt methods throw an error with the right name. */
export function suggestMethods({ prototype }: { readonly prototype: object }): void {
  const methods = Object.getOwnPropertyNames(prototype);
  const unknown = new Proxy(Object.prototype, {
    get(target, name, receiver) {
      if (typeof name !== "string" || name in target) return Reflect.get(target, name, receiver);
      const meant = nearest(name, methods);
      if (meant === undefined) return undefined;
      return () => {
        throw new ConfigurationError(`there is no .${name}(). Did you mean .${meant}()?`);
      };
    },
  });
  Object.setPrototypeOf(prototype, unknown);
}
