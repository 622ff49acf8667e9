const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** Shutdowns under way; with several servers in a process, the last one to finish ends it. */
const closing = new Set<object>();

/**
 * Ends the process after `close` at the first signal, with code 0; with 1 at the second one, when `close` fails, or
 * when it takes longer than `patience` milliseconds.
 * @returns a function that stops listening
 */
export function onSignal(close: () => Promise<void>, patience: number): () => void {
  const token = {};
  const exit = (code: number) => {
    closing.delete(token);
    if (code !== 0 || closing.size === 0) process.exit(code);
  };
  const listener = () => {
    if (closing.has(token)) process.exit(1);
    closing.add(token);
    setTimeout(() => exit(1), patience).unref();
    close().then(
      () => exit(0),
      () => exit(1),
    );
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener);
  };
}
