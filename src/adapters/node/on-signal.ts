const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** Running shutdowns; with several servers in a process, the last one to finish ends it. */
const closing = new Set<object>();

/**
 * On the first signal, runs `close` and exits with code 0. Exits with 1 on the second signal, when `close` fails, or
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
