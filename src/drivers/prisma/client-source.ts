import { DatabaseError, type Logger } from "../../kernel/index.ts";
import type { Client } from "./client-shape.ts";
import type { Dialect } from "./dialect.ts";
import { isClientBroken, PrismaFailure } from "./prisma-failure.ts";

/** A client that is ready for statements. */
export interface OpenedClient {
  readonly client: Client;
  readonly dialect: Dialect;
  /** Lets go of everything that was opened. */
  close(): Promise<void>;
}

/** Where statements get their client from. */
export interface ClientSource {
  /**
   * Runs work with the open client, or with the one that is opened in place of a broken one; all who wait share it.
   * @throws what kept it from being opened; whoever is next tries again
   */
  use<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Tells what a statement threw: a client that is of no use after that is given up. */
  failed(client: Client, error: unknown): void;
  close(): Promise<void>;
}

/**
 * Keeps a client, and replaces it when it breaks: after a panic of its query compiler, Prisma closes what is below.
 * A panic also costs some memory of the compiler, which all clients of a process share: after about ninety of them it has
 * none left, and only a new process helps.
 * @param reopen Opens another client. @default a broken client stays
 */
export function createClientSource(
  first: OpenedClient,
  log: Logger,
  reopen: (() => Promise<OpenedClient>) | undefined,
): ClientSource {
  /** Undefined from the moment it breaks until another one is open. */
  let opened: OpenedClient | undefined = first;
  let opening: Promise<Client> | undefined;
  let isClosed = false;

  async function openAgain(): Promise<Client> {
    try {
      if (reopen === undefined || isClosed) throw new DatabaseError("The connection is closed");
      opened = await reopen();
      return opened.client;
    } finally {
      opening = undefined;
    }
  }

  return {
    use(work) {
      if (opened !== undefined) return work(opened.client);
      opening ??= openAgain();
      return opening.then(work);
    },
    failed(client, error) {
      if (reopen === undefined || opened?.client !== client || !isClientBroken(error)) return;
      const { code } = new PrismaFailure(error, { operation: "statement" });
      log.warn("The database client broke; another one is opened", { code });
      void opened.close().catch(() => undefined); // Prisma has closed most of it, and fails at what is left
      opened = undefined;
    },
    async close() {
      isClosed = true;
      await opening?.catch(() => undefined); // whoever waits for it hears of a failure
      const last = opened;
      opened = undefined; // nobody uses it any more, and nobody takes its end for a fault
      await last?.close();
    },
  };
}
