/** A service that is being made, and those whose factories asked for it. */
export type Making = { readonly id: string; readonly askedBy: Set<Making> };

/** What is being made, by the promise that a cache holds of it. */
export const PENDING = new WeakMap<object, Making>();

/** Ids from a service that waits for another one, by way of others or not, down to that one; none when it does not. */
export function wayTo({ id, askedBy }: Making, from: string): readonly string[] {
  if (id === from) return [id];
  const way = [...askedBy].map((asker) => wayTo(asker, from)).find(({ length }) => length > 0);
  return way === undefined ? [] : [...way, id];
}
