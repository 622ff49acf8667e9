import { useCallback, useEffect, useState } from "preact/hooks";

/** What has come so far. */
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
 * Loads what a key names, and again when the key is another one. What was there before stays until then.
 * @param key undefined: nothing is loaded
 */
export function useRequest<T>(key: string | undefined, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<State<T>>({ key: undefined });
  const [round, setRound] = useState(0);
  const wanted = key === undefined ? undefined : `${round} ${key}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all that the load depends on
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
