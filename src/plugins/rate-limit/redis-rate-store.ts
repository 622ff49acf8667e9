import { ConfigurationError } from "../../entity/index.ts";
import { withDeadline } from "../../kernel/index.ts";
import type { Rate, RateCount, RateLimitStore } from "./rate-limit-store.ts";

const PACKAGE = "rate-limiter-flexible";

/** The used part of the package's limiters. */
interface FlexibleLimiter {
  /** For a key over its limit, it rejects with the same object, which is not an Error. */
  consume(key: string): Promise<{ readonly consumedPoints: number; readonly msBeforeNext: number }>;
}

/** The package's limiter over Redis. */
type RedisLimiter = new (options: Readonly<Record<string, unknown>>) => FlexibleLimiter;

/** @throws ConfigurationError with the install command if the package is missing, or if it cannot be loaded */
async function loadRedisLimiter(
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

/** Milliseconds that a client has to connect when the app starts. */
const CONNECT_MS = 1_000;

/** Options of `redisRateStore`. */
export interface RedisRateStoreOptions {
  /** The prefix of its keys. @default "keelson:rate" */
  readonly prefix?: string | undefined;
}

/**
 * Counts in Redis or Valkey, for all processes of an app together, with one atomic script per request and policy. When
 * a quota is used up, the process itself refuses further requests until the window ends. Needs `rate-limiter-flexible`.
 * @param client a connected client of `redis` (4 and later) or `ioredis`; you open and close it
 * @throws ConfigurationError for a value that is not such a client; when the app starts, if the package is missing
 * @example rateLimit({ store: redisRateStore(await createClient({ url }).connect()) })
 */
export function redisRateStore(
  client: object,
  { prefix = "keelson:rate" }: RedisRateStoreOptions = {},
): RateLimitStore {
  const {
    eval: evaluate,
    defineCommand,
    ping,
  } = (client ?? {}) as Partial<Record<"eval" | "defineCommand" | "ping", unknown>>;
  if (typeof evaluate !== "function") throw new ConfigurationError("redisRateStore takes a client of redis or ioredis");
  const useRedisPackage = typeof defineCommand !== "function";
  const limiters = new Map<string, FlexibleLimiter>();
  let Limiter: Awaited<ReturnType<typeof loadRedisLimiter>>;

  function limiterOf({ limit, window }: Rate): FlexibleLimiter {
    const key = `${limit}/${window}`;
    const known = limiters.get(key);
    if (known !== undefined) return known;
    const made = new Limiter({
      storeClient: client,
      useRedisPackage,
      keyPrefix: prefix,
      points: limit,
      duration: window,
      inMemoryBlockOnConsumed: limit,
      // A client that is not connected would queue the request.
      rejectIfRedisNotReady: true,
    });
    limiters.set(key, made);
    return made;
  }

  return Object.freeze<RateLimitStore>({
    name: "redis",
    async open() {
      Limiter = await loadRedisLimiter();
      // Waits for a client that is still connecting, so that the first requests find it ready, but not for one that is
      // down.
      if (typeof ping === "function")
        await withDeadline(Promise.resolve(ping.call(client)), CONNECT_MS, "Redis").catch(() => {});
    },
    async hit(key, rate): Promise<RateCount> {
      const { consumedPoints, msBeforeNext } = await limiterOf(rate)
        .consume(key)
        .catch((refused: unknown) => {
          if (refused instanceof Error) throw refused;
          const { msBeforeNext: wait } = refused as { readonly msBeforeNext: number };
          return { consumedPoints: rate.limit + 1, msBeforeNext: wait };
        });
      return { count: consumedPoints, resetMs: Math.max(0, msBeforeNext) };
    },
  });
}
