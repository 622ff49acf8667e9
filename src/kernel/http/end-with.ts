/** A stream that does one thing more when it ends: read to its end, broken off, failed, or never begun and cancelled. */
export function endWith<T>(body: AsyncIterable<T>, end: () => Promise<void> | undefined): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = body[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const step = await iterator.next();
            if (step.done) await end();
            return step;
          } catch (error) {
            await end();
            throw error;
          }
        },
        async return() {
          try {
            await iterator.return?.();
          } finally {
            await end();
          }
          return { done: true, value: undefined };
        },
      };
    },
  };
}
