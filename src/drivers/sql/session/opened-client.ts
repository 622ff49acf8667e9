import type { Dialect } from "./dialect.ts";

/** A client that is ready for statements. @typeParam C A PrismaClient, or the driver adapter below one */
export interface OpenedClient<C> {
  readonly client: C;
  readonly dialect: Dialect;
  /** Milliseconds that a transaction waits for a connection to run on; 0 as long as it takes. @default 10000 */
  readonly maxWait?: number;
  /** Lets go of everything that was opened. */
  close(): Promise<void>;
}
