import { didYouMean } from "../../entity/base/did-you-mean.ts";

/** The limits of an app. All are enabled by default and configurable. */
export interface Limits {
  /** Size of a request body in bytes. @default 1048576 */
  readonly bodyBytes: number;
  /** Size of the body of an import in bytes; each row may have `bodyBytes`. @default 268435456 */
  readonly importBytes: number;
  /** Nesting depth of JSON. @default 20 */
  readonly jsonDepth: number;
  /** Total number of members and items of a JSON body, or of one row of an import. @default 50000 */
  readonly jsonValues: number;
  /** Size of path and query together in bytes. @default 8192 */
  readonly urlBytes: number;
  /** Query parameters. @default 200 */
  readonly parameters: number;
  /** Characters of a record id. @default 128 */
  readonly idLength: number;
  /** Conditions of one query. @default 32 */
  readonly conditions: number;
  /** Values of one `in`. @default 200 */
  readonly inValues: number;
  /** Sort keys. @default 5 */
  readonly sortKeys: number;
  /** Relations of one `include`. @default 10 */
  readonly includes: number;
  /** Nesting depth of one `include`. @default 3 */
  readonly includeDepth: number;
  /** Included records per relation. @default 1000 */
  readonly includedRecords: number;
  /** Records per page when the request does not set a limit. @default 100 */
  readonly pageSize: number;
  /** Maximum number of records per page. @default 1000 */
  readonly maxPageSize: number;
  /** Size of a page of records, with the included records, in bytes. @default 8388608 */
  readonly pageBytes: number;
  /** Total size in bytes of all responses over 1 MiB in flight; further ones are refused with 503. @default 67108864 */
  readonly answerBytes: number;
  /** Maximum number of records that a page may skip; use cursors beyond it. @default 100000 */
  readonly maxOffset: number;
  /** Maximum number of records in one bulk request. @default 1000 */
  readonly bulk: number;
  /** Timeout of a rule in milliseconds. @default 1000 */
  readonly ruleMs: number;
  /** Timeout of a hook in milliseconds. @default 5000 */
  readonly hookMs: number;
  /** Timeout of a request in milliseconds. @default 30000 */
  readonly requestMs: number;
}

/** The default limits of an app. */
export const DEFAULT_LIMITS: Limits = Object.freeze({
  bodyBytes: 1_048_576,
  importBytes: 268_435_456,
  jsonDepth: 20,
  jsonValues: 50_000,
  urlBytes: 8_192,
  parameters: 200,
  idLength: 128,
  conditions: 32,
  inValues: 200,
  sortKeys: 5,
  includes: 10,
  includeDepth: 3,
  includedRecords: 1_000,
  pageSize: 100,
  maxPageSize: 1_000,
  pageBytes: 8_388_608,
  answerBytes: 67_108_864,
  maxOffset: 100_000,
  bulk: 1_000,
  ruleMs: 1_000,
  hookMs: 5_000,
  requestMs: 30_000,
});

/**
 * Merges an app's limits with the defaults; undefined values keep their default. Invalid limits are reported as
 * problems.
 */
export function completeLimits(given: Partial<Limits> = {}, problem: (sentence: string) => void): Limits {
  const limits: Record<string, number> = { ...DEFAULT_LIMITS };
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name))
      problem(`limits.${name} does not exist.${didYouMean(name, Object.keys(DEFAULT_LIMITS))}`);
    else if (value !== undefined && (!Number.isSafeInteger(value) || value < 0))
      problem(`limits.${name} must be a whole number, 0 or more`);
    else if (value !== undefined) limits[name] = value;
  }
  return Object.freeze(limits) as unknown as Limits;
}
