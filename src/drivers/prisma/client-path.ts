import type { Client, StatementClient } from "./client-shape.ts";
import { clientTransaction } from "./client-transaction.ts";
import { type ClientConnection, createClientConnection } from "./connection.ts";
import type { Path } from "./create-prisma-driver.ts";
import { sessionStatements } from "./session-driver.ts";

/** Statements through the public API of a PrismaClient. */
export const CLIENT_PATH: Path<StatementClient, Client, ClientConnection> = Object.freeze({
  prepare: createClientConnection,
  transact: clientTransaction,
  isSql: false,
  statements: sessionStatements,
});
