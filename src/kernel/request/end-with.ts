/** A stream that does one thing more when it ends: read to its end, broken off, failed, or cancelled before it began. */
export function endWith<T>(body: AsyncIterable<T>, end: () => Promise<void> | undefined): AsyncIterable<T> {
  let isOver = false;
  return {
    [Symbol.asyncIterator]() {
      const iterator = body[Symbol.asyncIterator]();
      const take = async (step: () => Promise<IteratorResult<T>> | undefined): Promise<IteratorResult<T>> => {
        let result: IteratorResult<T> = { done: true, value: undefined };
        try {
          result = (await step()) ?? result;
        } finally {
          if (result.done && !isOver) {
            isOver = true;
            await end();
          }
        }
        return result;
      };
      return { next: () => take(() => iterator.next()), return: () => take(() => iterator.return?.()) };
    },
  };
}
