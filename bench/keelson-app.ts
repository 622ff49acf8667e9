import { type AnyPrismaClient, type Keelson, prisma } from "keelson";
import { createBenchApi } from "./keelson-api.ts";
import { createPrismaClient } from "./prisma-client.ts";

/** The API on the client that the hand-written servers use too. */
export function createBenchApp(): Keelson {
  return createBenchApi(prisma(createPrismaClient() as unknown as AnyPrismaClient, { provider: "postgresql" }));
}
