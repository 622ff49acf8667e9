// Keelson on node:http, on the Prisma client that the hand-written servers use too.
import { prisma } from "keelson";
import { serve } from "keelson/node";
import type { AnyPrismaClient } from "keelson/prisma";
import { createBenchApi } from "../keelson-api.ts";
import { createPrismaClient } from "../prisma-client.ts";

const driver = prisma(createPrismaClient() as unknown as AnyPrismaClient, { provider: "postgresql" });
await serve(createBenchApi(driver), { port: Number(process.env.PORT), hostname: "127.0.0.1" });
