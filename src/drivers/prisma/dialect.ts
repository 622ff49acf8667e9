import type { Provider } from "../../entity/index.ts";

/** How databases differ in what Prisma leaves visible. */
export interface Dialect {
  readonly provider: Provider;
  /**
   * How `%` and `_` in a search are taken literally: with a backslash where LIKE has one as its escape character
   * (SQLite has none unless the statement says so), otherwise by asking the database for the ids first.
   */
  readonly wildcards: "escaped" | "looked-up";
  /** Whether comparisons of text ignore case only when asked to. */
  readonly insensitiveMode: boolean;
  /** Whether the order of nulls has to be spelled out; elsewhere they are the smallest value by nature. */
  readonly ordersNulls: boolean;
  /** Whether a condition on related records is answered beginning with those; elsewhere all records are looked at. */
  readonly startsFromRelated: boolean;
  /** Whether an UPDATE can return the rows it changed. */
  readonly returnsRows: boolean;
  /** Whether only one transaction at a time can write, so that ours have to queue. */
  readonly singleWriter: boolean;
}

const SQLITE: Dialect = Object.freeze({
  provider: "sqlite",
  wildcards: "looked-up",
  insensitiveMode: false,
  ordersNulls: false,
  startsFromRelated: false,
  returnsRows: true,
  singleWriter: true,
});

export const DIALECTS: Readonly<Record<Provider, Dialect>> = Object.freeze({
  sqlite: SQLITE,
  postgresql: Object.freeze({
    provider: "postgresql",
    wildcards: "escaped",
    insensitiveMode: true,
    ordersNulls: true,
    startsFromRelated: true,
    returnsRows: true,
    singleWriter: false,
  }),
  mysql: Object.freeze({
    provider: "mysql",
    wildcards: "escaped",
    insensitiveMode: false,
    ordersNulls: false,
    startsFromRelated: true,
    returnsRows: false,
    singleWriter: false,
  }),
});

/** SQLite behind an adapter of ours, which gives LIKE its escape character. */
export const EMBEDDED_DIALECT: Dialect = Object.freeze({ ...SQLITE, wildcards: "escaped" });
