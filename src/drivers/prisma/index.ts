// Placeholder until the driver lands; its owner overwrites this file.
import { ConfigurationError } from "../../entity/index.ts";
import type { Driver } from "../../kernel/index.ts";
const absent = (): never => { throw new ConfigurationError("the prisma driver is not there yet"); };
export const prisma: (client: unknown) => Driver = absent;
export const embedded: (options?: { file?: string; push?: "auto" | "off"; acceptDataLoss?: boolean }) => Driver = absent;
export const postgres: (url: string, options?: { poolSize?: number; push?: "auto" | "off"; acceptDataLoss?: boolean }) => Driver = absent;
export const toPrismaSchema: (entities: unknown, options: { provider: string }) => string = absent;
