/** Paths of objects that are not frozen, inside plain objects and arrays; kinds and patterns are skipped. */
export function changeable(value: unknown, path = "value"): string[] {
  if (typeof value !== "object" || value === null) return [];
  const prototype = Object.getPrototypeOf(value);
  const isData = Array.isArray(value) || prototype === Object.prototype || prototype === null;
  if (!isData || "accepts" in value) return Object.isFrozen(value) || !isData ? [] : [path];
  const inner = Object.entries(value).flatMap(([key, child]) => changeable(child, `${path}.${key}`));
  return Object.isFrozen(value) ? inner : [path, ...inner];
}
