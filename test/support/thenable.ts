/** An awaitable that is not a Promise, as ORMs create them: `then` starts the work. */
export function thenable<T>(
  run: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
): PromiseLike<T> {
  // biome-ignore lint/suspicious/noThenProperty: the subject of the test
  return { then: run } as PromiseLike<T>;
}
