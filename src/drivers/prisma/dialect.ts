import type { Provider } from "../../entity/index.ts";

/** How databases differ in what Prisma leaves visible. */
export interface Dialect {
  readonly provider: Provider;
  /** Whether LIKE has a backslash as its escape character; SQLite has none unless the statement says so. */
  readonly escapes: boolean;
  /** Whether Prisma has no words for a search for this text, so that the database is asked for the ids first. */
  readonly looksUp: (text: string) => boolean;
  /** The statement that is then asked; `!` is its escape character, and the pattern its parameter. */
  readonly searchStatement: (table: string, column: string) => string;
  /** Whether comparisons of text ignore case only when asked to. */
  readonly insensitiveMode: boolean;
  /** Whether the order of nulls has to be spelled out; elsewhere they are the smallest value by nature. */
  readonly ordersNulls: boolean;
  /** Whether a condition on related records is answered beginning with those; elsewhere all records are looked at. */
  readonly startsFromRelated: boolean;
  /** Whether an UPDATE can return the rows it changed. */
  readonly returnsRows: boolean;
  /** Whether writes of one turn can share a statement: it returns rows, and leaves out those that somebody else has locked. */
  readonly writesTogether: boolean;
  /** The first year of moments that a column keeps. */
  readonly firstYear: number;
  /** Whether only one transaction at a time can write, so that ours have to queue. */
  readonly singleWriter: boolean;
  /** Whether transactions have to ask for READ COMMITTED, by which each statement sees what was committed before it. */
  readonly asksReadCommitted: boolean;
}

const never = (): boolean => false;

function plainSearch(table: string, column: string): string {
  return `SELECT "id" FROM "${table}" WHERE "${column}" LIKE ? ESCAPE '!'`;
}

/** Text that compares exactly, as ours has to, is searched exactly too; Prisma can only ask PostgreSQL for less. */
function caselessSearch(table: string, column: string): string {
  return `SELECT \`id\` FROM \`${table}\` WHERE LOWER(\`${column}\`) LIKE LOWER(?) ESCAPE '!'`;
}

const SQLITE: Dialect = Object.freeze({
  provider: "sqlite",
  escapes: false,
  looksUp: (text: string) => /[%_]/.test(text),
  searchStatement: plainSearch,
  firstYear: 1,
  insensitiveMode: false,
  ordersNulls: false,
  startsFromRelated: false,
  returnsRows: true,
  writesTogether: false,
  singleWriter: true,
  asksReadCommitted: false,
});

export const DIALECTS: Readonly<Record<Provider, Dialect>> = Object.freeze({
  sqlite: SQLITE,
  postgresql: Object.freeze({
    provider: "postgresql",
    escapes: true,
    looksUp: never,
    searchStatement: plainSearch,
    firstYear: 1,
    insensitiveMode: true,
    ordersNulls: true,
    startsFromRelated: true,
    returnsRows: true,
    writesTogether: true,
    singleWriter: false,
    asksReadCommitted: false,
  }),
  mysql: Object.freeze({
    provider: "mysql",
    escapes: true,
    looksUp: (text: string) => text.toLowerCase() !== text.toUpperCase(),
    searchStatement: caselessSearch,
    // What comes before is beyond what MySQL promises, and Prisma reads the first century as another one.
    firstYear: 1000,
    insensitiveMode: false,
    ordersNulls: false,
    startsFromRelated: true,
    returnsRows: false,
    writesTogether: false,
    singleWriter: false,
    asksReadCommitted: true,
  }),
});
