import { ConfigurationError } from "../../../entity/index.ts";

const PACKAGE = "rate-limiter-flexible";

/** What is used of the package's limiters. */
export interface FlexibleLimiter {
  /** Rejects with the same, which is no Error, for a key that is over its points. */
  consume(key: string): Promise<{ readonly consumedPoints: number; readonly msBeforeNext: number }>;
}

/** The package's limiter over Redis. */
type RedisLimiter = new (options: Readonly<Record<string, unknown>>) => FlexibleLimiter;

/** @throws ConfigurationError with the command that installs it, when it is not installed */
export async function loadRedisLimiter(
  load: () => Promise<{ readonly RateLimiterRedis: unknown }> = () => import("rate-limiter-flexible"),
): Promise<RedisLimiter> {
  try {
    return (await load()).RateLimiterRedis as RedisLimiter;
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    const isMissing = code === "ERR_MODULE_NOT_FOUND" && String(message).includes(`${PACKAGE}'`);
    throw new ConfigurationError(
      isMissing
        ? `redisRateStore() needs "${PACKAGE}". Run: npm i ${PACKAGE}`
        : `redisRateStore() cannot load "${PACKAGE}": ${String(message)}`,
      { cause: error },
    );
  }
}
