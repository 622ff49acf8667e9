import { didYouMean } from "../text/did-you-mean.ts";

/** Limits of an app; all on, all configurable. */
export interface Limits {
  /** Bytes of a request body. @default 1048576 */
  readonly bodyBytes: number;
  /** Bytes of the body of an import, whose rows have `bodyBytes` each. @default 268435456 */
  readonly importBytes: number;
  /** Levels of nested JSON. @default 20 */
  readonly jsonDepth: number;
  /** Members and items of one JSON body, all together; of one row of an import. @default 50000 */
  readonly jsonValues: number;
  /** Bytes of path and query together. @default 8192 */
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
  /** Levels of one `include`. @default 3 */
  readonly includeDepth: number;
  /** Included records per relation. @default 1000 */
  readonly includedRecords: number;
  /** Records of a page when the request does not say. @default 100 */
  readonly pageSize: number;
  /** Records of a page at most. @default 1000 */
  readonly maxPageSize: number;
  /** Bytes of a page of records, and of what is included in them. @default 8388608 */
  readonly pageBytes: number;
  /**
   * Bytes of all responses over 1 MiB that are in flight at once; further ones are refused with 503. @default 67108864
   */
  readonly answerBytes: number;
  /** Records that a page may skip; beyond it, keyset. @default 100000 */
  readonly maxOffset: number;
  /** Records of one bulk request. @default 1000 */
  readonly bulk: number;
  /** Milliseconds for a rule. @default 1000 */
  readonly ruleMs: number;
  /** Milliseconds for a hook. @default 5000 */
  readonly hookMs: number;
  /** Milliseconds for a request. @default 30000 */
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

/** The limits of an app over the defaults; what is undefined keeps its default. Anything odd is reported as a problem. */
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
