/** Something that can be awaited and is no Promise, as ORMs make them: `then` does the work. */
export function thenable<T>(
  run: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
): PromiseLike<T> {
  // biome-ignore lint/suspicious/noThenProperty: that is the point
  return { then: run } as PromiseLike<T>;
}
