import type { Provider } from "../../../entity/index.ts";
import { ValidationFailedError } from "../../../kernel/index.ts";

/** How databases differ, for the SQL of the drivers and for statements of a PrismaClient alike. */
export interface Dialect {
  readonly provider: Provider;
  /** Whether an UPDATE can return the rows it changed. */
  readonly returnsRows: boolean;
  /** The first year of moments that a column keeps. */
  readonly firstYear: number;
  /** Whether only one transaction at a time can write, so that ours have to queue. */
  readonly singleWriter: boolean;
  /** Whether transactions have to ask for READ COMMITTED, by which each statement sees what was committed before it. */
  readonly asksReadCommitted: boolean;
}

export const DIALECTS: Readonly<Record<Provider, Dialect>> = Object.freeze({
  sqlite: Object.freeze({
    provider: "sqlite",
    returnsRows: true,
    firstYear: 1,
    singleWriter: true,
    asksReadCommitted: false,
  }),
  postgresql: Object.freeze({
    provider: "postgresql",
    returnsRows: true,
    firstYear: 1,
    singleWriter: false,
    asksReadCommitted: false,
  }),
  mysql: Object.freeze({
    provider: "mysql",
    returnsRows: false,
    // What comes before is beyond what MySQL promises, and Prisma reads the first century as another one.
    firstYear: 1000,
    singleWriter: false,
    asksReadCommitted: true,
  }),
});

/** A moment that the database would change on its way in or out is the caller's to put right. */
export function assertKept(name: string, value: unknown, firstYear: number): void {
  if (value instanceof Date && value.getUTCFullYear() < firstYear)
    throw new ValidationFailedError({ [name]: `must not be before the year ${firstYear}` });
}
