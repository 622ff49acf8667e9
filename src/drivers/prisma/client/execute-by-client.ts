import { type DriverPort, type Execute, foldRecords, type ResultOf, type Statement } from "../../../gate/index.ts";
import type { Path } from "../../sql/index.ts";
import {
  type Client,
  type ClientConnection,
  type ClientSession,
  createClientConnection,
  type StatementClient,
} from "./client-connection.ts";
import { changeLinks, selectLinks } from "./client-links.ts";
import { clientFind, countRows } from "./client-reads.ts";
import { deleteRows, insertRows, isWrittenInCalls, MOST_AT_ONCE, updateRows } from "./client-writes.ts";

/** Prisma's own timeout is longer by this, so that Keelson's timeout determines the error. */
const PRISMA_GRACE_MS = 1_000;

/** Statements through the public API of a PrismaClient. */
export const CLIENT_PATH: Path<StatementClient, Client, ClientConnection> = Object.freeze({
  prepare: createClientConnection,
  transact: (client, body, { timeout, maxWait, asksReadCommitted }) =>
    client.$transaction(body, {
      timeout: timeout + PRISMA_GRACE_MS,
      maxWait,
      ...(asksReadCommitted && { isolationLevel: "ReadCommitted" }),
    }),
  capabilities: {},
  executor: clientExecutor,
  ping: (client) => client.$queryRawUnsafe("SELECT 1"),
} satisfies Path<StatementClient, Client, ClientConnection>);

/**
 * Translates statements to calls of a PrismaClient. The data of a statement is copied when it is submitted, so that
 * later changes to it have no effect while the statement waits for its turn.
 */
function clientExecutor(session: ClientSession, transaction: DriverPort["transaction"]): Execute {
  const find = clientFind(session);

  async function run(statement: Statement): Promise<ResultOf<Statement>> {
    if (!session.inTransaction && takesSeveralCalls(session, statement))
      return transaction((execute) => execute(statement));
    switch (statement.kind) {
      case "find":
        return find(statement);
      case "count":
        return countRows(session, statement);
      case "aggregate":
        return foldRecords(run as Execute, statement);
      case "insert":
        return insertRows(session, statement);
      case "update":
        return updateRows(session, statement);
      case "delete":
        return deleteRows(session, statement);
      case "pairs":
        return selectLinks(session, statement);
      default:
        return changeLinks(session, statement);
    }
  }
  return run as Execute;
}

function takesSeveralCalls(session: ClientSession, statement: Statement): boolean {
  switch (statement.kind) {
    case "find":
      return Boolean(statement.lock);
    case "insert":
      return statement.rows.length > MOST_AT_ONCE;
    case "update":
    case "delete":
      return isWrittenInCalls(session.connection(), statement);
    case "link":
    case "unlink":
      return statement.targets.length > MOST_AT_ONCE;
    default:
      return false;
  }
}
