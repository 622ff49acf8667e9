/**
 * The optimizations, which never change a result. Tests and `npm run bench:fast` switch them off one by one;
 * docs/adr/0053-give-each-special-case-for-speed-a-switch-and-a-figure.md has the figures.
 */
export interface Fast {
  /** Reads by id of one turn of the event loop share a statement. */
  readonly sharedReads: boolean;
  /** Writes of one turn share a statement, on PostgreSQL. */
  readonly sharedWrites: boolean;
  /** Lists read related records in the same statement. */
  readonly joins: boolean;
  /** A statement is written once for all operations that differ in values only. */
  readonly keptStatements: boolean;
  /** Cached statements have names, so that PostgreSQL prepares them once per connection. */
  readonly preparedNames: boolean;
  /** Queries outside transactions go directly to the pool, bypassing Prisma's adapter. */
  readonly poolQueries: boolean;
  /** Transactions also go directly to a pool connection, with `BEGIN` in the message of the first statement. */
  readonly poolTransactions: boolean;
  /** The columns of a prepared statement are described once per connection. */
  readonly describedOnce: boolean;
  /** Datetimes that are only written to JSON stay texts and are not converted to `Date`. */
  readonly textMoments: boolean;
  /** Datetimes are parsed digit by digit, without the general parser of `Date`. */
  readonly momentsByDigits: boolean;
}

export const ALL_FAST: Fast = Object.freeze({
  sharedReads: true,
  sharedWrites: true,
  joins: true,
  keptStatements: true,
  preparedNames: true,
  poolQueries: true,
  poolTransactions: true,
  describedOnce: true,
  textMoments: true,
  momentsByDigits: true,
});
