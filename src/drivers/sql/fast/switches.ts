/**
 * The special cases for speed, which never change a result. Tests and `npm run bench:fast` switch them off one by one;
 * docs/adr/0053-give-each-special-case-for-speed-a-switch-and-a-figure.md has the figures.
 */
export interface Fast {
  /** Reads by id of one turn of the event loop are one statement. */
  readonly sharedReads: boolean;
  /** Writes of one turn are one statement, on PostgreSQL. */
  readonly sharedWrites: boolean;
  /** Lists read a related record along in their statement. */
  readonly joins: boolean;
  /** A statement is written once for all operations that differ in values only. */
  readonly keptStatements: boolean;
  /** Statements that are kept have names, by which PostgreSQL prepares them once per connection. */
  readonly preparedNames: boolean;
  /** Queries outside transactions go to the pool, and not through Prisma's adapter around it. */
  readonly poolQueries: boolean;
  /**
   * Transactions, too, go to a connection of the pool, with `BEGIN` in the message of the first statement. Off: a connection that is
   * silent is then noticed only when the request ends.
   */
  readonly poolTransactions: boolean;
  /** The columns of a prepared statement are described once per connection. */
  readonly describedOnce: boolean;
  /** Datetimes that become JSON are texts, and never a `Date`. */
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
  poolTransactions: false,
  describedOnce: true,
  textMoments: true,
  momentsByDigits: true,
});
