import { ConfigurationError } from "../../../entity/index.ts";

/** When a service that fails is left alone, and for how long. */
export interface RemoteBreakerOptions {
  /** Batches that fail in a row. @default 5 */
  readonly failures?: number | undefined;
  /** Milliseconds until one batch may try again. @default 10000 */
  readonly resetAfter?: number | undefined;
}

/** Options of `remoteJoins` and `createRemoteJoiner`. */
export interface RemoteJoinsOptions {
  /** Ids of one call at most. @default 100 */
  readonly batchSize?: number | undefined;
  /** Milliseconds for a whole stitch: all relations, batches and levels of it. @default 5000 */
  readonly timeout?: number | undefined;
  /**
   * Whether a record that a request was given once is asked for again in it, and whether answers of services that are
   * `shared` are kept across requests.
   * @default true
   */
  readonly cache?: boolean | undefined;
  /** Batches that one service is sent at once. @default 4 */
  readonly concurrency?: number | undefined;
  /** What spares a dead service, and the requests that would wait for it; false for nothing. @default on */
  readonly breaker?: false | RemoteBreakerOptions | undefined;
  /** Bytes of a record at most, whatever is nested in it included. @default 1048576 */
  readonly maxRecordBytes?: number | undefined;
}

/** The options with nothing left open. */
export interface JoinSettings {
  readonly batchSize: number;
  readonly timeout: number;
  readonly cache: boolean;
  readonly concurrency: number;
  readonly breaker: false | Required<{ readonly [K in keyof RemoteBreakerOptions]: number }>;
  readonly maxRecordBytes: number;
}

/**
 * Fills in what was left out.
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
