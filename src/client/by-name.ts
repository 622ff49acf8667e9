/**
 * Names that the language and frameworks look up on any value. If they were functions, `await` would call `then` and
 * send a request, and frameworks would find markers such as `__v_isRef` and `$$typeof`.
 */
const NO_NAMES = /^(?:then$|toJSON$|__|\$\$|@@)/;

/** An object whose members are created on first use. */
export function byName(make: (name: string) => object, known: object = {}): object {
  const members = new Map<string, unknown>(Object.entries(known));
  return new Proxy(Object.freeze({}), {
    get(_, name) {
      if (typeof name === "symbol" || NO_NAMES.test(name)) return undefined;
      if (!members.has(name)) members.set(name, make(name));
      return members.get(name);
    },
  });
}
