import type { Provider } from "../../../../entity/index.ts";
import { DIALECTS, type Dialect } from "../../../sql/index.ts";

/** How databases differ in what Prisma leaves visible. */
export interface ClientDialect extends Dialect {
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
}

const never = (): boolean => false;

function plainSearch(table: string, column: string): string {
  return `SELECT "id" FROM "${table}" WHERE "${column}" LIKE ? ESCAPE '!'`;
}

/** Text that compares exactly, as ours has to, is searched exactly too; Prisma can only ask PostgreSQL for less. */
function caselessSearch(table: string, column: string): string {
  return `SELECT \`id\` FROM \`${table}\` WHERE LOWER(\`${column}\`) LIKE LOWER(?) ESCAPE '!'`;
}

export const CLIENT_DIALECTS: Readonly<Record<Provider, ClientDialect>> = Object.freeze({
  sqlite: Object.freeze({
    ...DIALECTS.sqlite,
    escapes: false,
    looksUp: (text: string) => /[%_]/.test(text),
    searchStatement: plainSearch,
    insensitiveMode: false,
    ordersNulls: false,
    startsFromRelated: false,
  }),
  postgresql: Object.freeze({
    ...DIALECTS.postgresql,
    escapes: true,
    looksUp: never,
    searchStatement: plainSearch,
    insensitiveMode: true,
    ordersNulls: true,
    startsFromRelated: true,
  }),
  mysql: Object.freeze({
    ...DIALECTS.mysql,
    escapes: true,
    looksUp: (text: string) => text.toLowerCase() !== text.toUpperCase(),
    searchStatement: caselessSearch,
    insensitiveMode: false,
    ordersNulls: false,
    startsFromRelated: true,
  }),
});
