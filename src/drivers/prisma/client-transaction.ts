import type { Client, StatementClient } from "./client-shape.ts";
import type { Transact } from "./run-transaction.ts";

/** Prisma keeps its own, later clock, so that ours decides what the error says. */
const PRISMA_GRACE_MS = 1_000;

/** A transaction of a PrismaClient. */
export const clientTransaction: Transact<StatementClient, Client> = (client, body, limits) =>
  client.$transaction(body, {
    timeout: limits.timeout + PRISMA_GRACE_MS,
    maxWait: limits.maxWait,
    ...(limits.asksReadCommitted && { isolationLevel: "ReadCommitted" }),
  });
