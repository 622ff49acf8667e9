import { ConfigurationError } from "../../../entity/index.ts";

/** When a failing service is no longer called, and for how long. */
export interface RemoteBreakerOptions {
  /** Consecutive batches that fail. @default 5 */
  readonly failures?: number | undefined;
  /** Milliseconds until one batch tries again. @default 10000 */
  readonly resetAfter?: number | undefined;
}

/** Options of `remoteJoins` and `createRemoteJoiner`. */
export interface RemoteJoinsOptions {
  /** The most ids of one call. @default 100 */
  readonly batchSize?: number | undefined;
  /** Time limit in milliseconds for a whole stitch, with all its relations, batches and levels. @default 5000 */
  readonly timeout?: number | undefined;
  /**
   * Whether a request fetches each record only once, and whether responses of `shared` services are cached across
   * requests.
   * @default true
   */
  readonly cache?: boolean | undefined;
  /** The most concurrent batches to one service. @default 4 */
  readonly concurrency?: number | undefined;
  /** The circuit breaker, which stops calls to a failing service; false disables it. @default enabled */
  readonly breaker?: false | RemoteBreakerOptions | undefined;
  /** The most bytes of a record, with its nested records. @default 1048576 */
  readonly maxRecordBytes?: number | undefined;
}

/** The options, completed with defaults. */
export interface JoinSettings {
  readonly batchSize: number;
  readonly timeout: number;
  readonly cache: boolean;
  readonly concurrency: number;
  readonly breaker: false | Required<{ readonly [K in keyof RemoteBreakerOptions]: number }>;
  readonly maxRecordBytes: number;
}

/**
 * Completes the options with defaults.
 * @throws ConfigurationError for numbers that are not whole, or less than 1
 */
export function completeOptions(options: RemoteJoinsOptions, owner: string): JoinSettings {
  const problems: string[] = [];
  const whole = (name: string, value: number | undefined, otherwise: number): number => {
    const number = value ?? otherwise;
    if (!Number.isSafeInteger(number) || number < 1)
      problems.push(`${owner}: \`${name}\` must be a whole number of at least 1`);
    return number;
  };
  const { breaker = {} } = options;
  const settings: JoinSettings = Object.freeze({
    batchSize: whole("batchSize", options.batchSize, 100),
    timeout: whole("timeout", options.timeout, 5_000),
    cache: options.cache ?? true,
    concurrency: whole("concurrency", options.concurrency, 4),
    breaker: breaker !== false && {
      failures: whole("breaker.failures", breaker.failures, 5),
      resetAfter: whole("breaker.resetAfter", breaker.resetAfter, 10_000),
    },
    maxRecordBytes: whole("maxRecordBytes", options.maxRecordBytes, 1_048_576),
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
  return settings;
}
