/**
 * The special cases for speed, each of which gives the answers that there would be without it. Tests and `npm run bench:fast` switch
 * them off one by one; docs/adr/0053-special-cases-for-speed.md has the figures.
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
  /** The columns of a prepared statement are asked for once per connection. */
  readonly describedOnce: boolean;
  /** Moments that become JSON are texts, and never a `Date`. */
  readonly textMoments: boolean;
  /** Moments are read digit by digit, where `Date` would take their text apart in general. */
  readonly momentsByDigits: boolean;
}

export const ALL_FAST: Fast = Object.freeze({
  sharedReads: true,
  sharedWrites: true,
  joins: true,
  keptStatements: true,
  preparedNames: true,
  poolQueries: true,
  describedOnce: true,
  textMoments: true,
  momentsByDigits: true,
});
