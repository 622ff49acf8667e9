/**
 * A copy that can be changed without changing what was copied: of lists, plain objects (records stay records), maps, sets and
 * moments. Anything else is passed as it is: functions, streams, objects of classes.
 */
export function copyOf<T>(value: T, copies = new Map<object, unknown>()): T {
  if (typeof value !== "object" || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known as T;
  const copy = emptyLike(value);
  if (copy === undefined) return value;
  copies.set(value, copy);
  if (value instanceof Map)
    for (const [key, inner] of value) (copy as Map<unknown, unknown>).set(key, copyOf(inner, copies));
  else if (value instanceof Set) for (const inner of value) (copy as Set<unknown>).add(copyOf(inner, copies));
  else if (!(value instanceof Date)) copyMembers(value, copy, copies);
  return copy as T;
}

/** Undefined for what is not copied. */
function emptyLike(value: object): object | undefined {
  if (Array.isArray(value)) return [];
  if (value instanceof Date) return new Date(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Map.prototype) return new Map();
  if (prototype === Set.prototype) return new Set();
  return prototype === Object.prototype || prototype === null ? Object.create(prototype) : undefined;
}

/** By descriptor: what a record hides stays hidden, and its mark is a symbol. */
function copyMembers(value: object, copy: object, copies: Map<object, unknown>): void {
  for (const name of Reflect.ownKeys(value)) {
    const member = Object.getOwnPropertyDescriptor(value, name) as PropertyDescriptor;
    Object.defineProperty(
      copy,
      name,
      "value" in member
        ? { ...member, value: copyOf(member.value, copies), writable: true, configurable: name !== "length" }
        : member,
    );
  }
}
