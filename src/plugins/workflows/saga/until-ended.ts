import { ConflictError } from "../../../kernel/index.ts";

/**
 * Something that a step uses, as long as it runs: afterwards each call is refused, and a transaction it began rolls back. So
 * a step that goes on after its time is up changes nothing.
 */
export function untilEnded<T extends object>(inner: T, hasEnded: () => boolean): T {
  const refuse = (): void => {
    if (hasEnded()) throw new ConflictError("The step is over");
  };
  return new Proxy({} as T, {
    get(_, name) {
      const value: unknown = Reflect.get(inner, name, inner);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        refuse();
        const [work, ...rest] = args;
        if (name !== "transaction" || typeof work !== "function") return value.apply(inner, args);
        const guarded = async (within: object): Promise<unknown> => {
          const result: unknown = await work(untilEnded(within, hasEnded));
          refuse();
          return result;
        };
        return value.call(inner, guarded, ...rest);
      };
    },
  });
}
