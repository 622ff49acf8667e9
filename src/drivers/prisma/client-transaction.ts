import type { Client, StatementClient } from "./client-shape.ts";
import type { Transact } from "./run-transaction.ts";

/** Prisma keeps its own, later clock, so that ours decides what the error says. */
const PRISMA_GRACE_MS = 1_000;

/** A transaction of a PrismaClient. */
export const clientTransaction: Transact<StatementClient, Client> = (client, body, { timeout, maxWait }) =>
  client.$transaction(body, { timeout: timeout + PRISMA_GRACE_MS, maxWait });
