import { ConflictError } from "../../../kernel/index.ts";

/**
 * Something that a step uses, as long as it runs: afterwards each call is refused, and a transaction it began rolls back. So
 * a step that goes on after its time is up changes nothing.
 */
export function untilEnded<T extends object>(inner: T, over: AbortSignal): T {
  return new Proxy({} as T, {
    get(_, name) {
      const value: unknown = Reflect.get(inner, name, inner);
      if (name === "driver") return untilEnded(value as object, over);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (over.aborted) throw stepIsOver();
        const [work, ...rest] = args;
        if (name !== "transaction" || typeof work !== "function") return value.apply(inner, args);
        const guarded = async (within: object): Promise<unknown> => {
          const result: unknown = await beforeEnd(work(untilEnded(within, over)), over);
          if (over.aborted) throw stepIsOver();
          return result;
        };
        return value.call(inner, guarded, ...rest);
      };
    },
  });
}

/** What a step that is over asks for. */
export function stepIsOver(): ConflictError {
  return new ConflictError("The step is over");
}

/** Work of a step, which nobody waits for when the step is over: a transaction must not stay open for it. */
async function beforeEnd(work: unknown, over: AbortSignal): Promise<unknown> {
  let refuse: () => void = () => {};
  const ended = new Promise<never>((_, reject) => {
    refuse = () => reject(stepIsOver());
    over.addEventListener("abort", refuse, { once: true });
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    over.removeEventListener("abort", refuse);
  }
}
