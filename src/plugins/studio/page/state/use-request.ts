import { useCallback, useEffect, useState } from "preact/hooks";

/** The current state of a request. */
export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  reload(): void;
}

interface State<T> {
  readonly key: string | undefined;
  readonly data?: T;
  readonly error?: unknown;
}

/**
 * Loads data for a key, and again when the key changes. The previous data remains until the new data arrives.
 * @param key undefined loads nothing
 */
export function useRequest<T>(key: string | undefined, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<State<T>>({ key: undefined });
  const [round, setRound] = useState(0);
  const wanted = key === undefined ? undefined : `${round} ${key}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all inputs of the load function
  useEffect(() => {
    if (wanted === undefined) return;
    const control = new AbortController();
    load(control.signal).then(
      (data) => {
        if (!control.signal.aborted) setState({ key: wanted, data });
      },
      (error: unknown) => {
        if (!control.signal.aborted) setState({ key: wanted, error });
      },
    );
    return () => control.abort();
  }, [wanted]);
  const reload = useCallback(() => setRound((now) => now + 1), []);
  return { data: state.data, error: state.error, isLoading: state.key !== wanted, reload };
}
