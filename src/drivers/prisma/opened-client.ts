import type { Dialect } from "./dialect.ts";

/** A client that is ready for statements. @typeParam C A PrismaClient, or the driver adapter below one */
export interface OpenedClient<C> {
  readonly client: C;
  readonly dialect: Dialect;
  /** Lets go of everything that was opened. */
  close(): Promise<void>;
}
