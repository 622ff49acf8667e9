import { createHash } from "node:crypto";
import { ConfigurationError, datetime, entity } from "../../entity/index.ts";
import type { Driver } from "../../gate/index.ts";
import { ConflictError, DatabaseError, describeError } from "../../kernel/index.ts";
import type { RateLimitStore } from "./rate-limit-store.ts";

/** Options of `databaseRateStore`. */
export interface DatabaseRateStoreOptions {
  /** Seconds between removals of expired windows. @default 60 */
  readonly cleanUpSeconds?: number | undefined;
}

/**
 * The window of a key. `version` is the number of requests, because drivers increment it in the statement that changes
 * the row. The id is a digest of the key, so that the table does not reveal addresses and user ids.
 */
const WINDOW = entity("rateWindow", { endsAt: datetime })
  .versioned()
  .timestamps(false)
  .internal()
  .index(["endsAt"])
  .build();

/** Attempts when a concurrent request keeps adding or removing the row. */
const ATTEMPTS = 5;

/**
 * Counts in the app's database, for all processes that share it: one statement per request and policy, outside of the
 * request's transaction. The table is `rateWindow`. Processes whose clocks differ end a window at different times.
 * @throws ConfigurationError for a `cleanUpSeconds` that is not a whole number from 1 to 86400
 */
export function databaseRateStore({ cleanUpSeconds = 60 }: DatabaseRateStoreOptions = {}): RateLimitStore {
  if (!Number.isInteger(cleanUpSeconds) || cleanUpSeconds < 1 || cleanUpSeconds > 86_400)
    throw new ConfigurationError("databaseRateStore: `cleanUpSeconds` must be a whole number from 1 to 86400");
  let driver: Driver;
  let timer: NodeJS.Timeout | undefined;

  async function count(id: string, windowMs: number): Promise<{ readonly count: number; readonly endsAt: Date }> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const now = new Date();
      const row = await driver.update(WINDOW, { id, endsAt: { gt: now } }, { version: 1 });
      if (row !== null) return { count: row.version as number, endsAt: row.endsAt as Date };
      await driver.deleteMany(WINDOW, { id, endsAt: { lte: now } });
      const endsAt = new Date(now.getTime() + windowMs);
      try {
        await driver.create(WINDOW, { id, endsAt, version: 1 });
        return { count: 1, endsAt };
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error; // a concurrent request was first
      }
    }
    throw new DatabaseError("A request could not be counted");
  }

  return Object.freeze<RateLimitStore>({
    name: "database",
    entities: [WINDOW],
    open(host) {
      driver = host.driver;
      const cleanUp = (): void =>
        void driver
          .deleteMany(WINDOW, { endsAt: { lte: new Date() } })
          .catch((error: unknown) =>
            host.log.warn("Old rate limit windows could not be removed", describeError(error)),
          );
      timer = setInterval(cleanUp, cleanUpSeconds * 1_000).unref();
    },
    async hit(key, { window }) {
      const id = createHash("sha256").update(key).digest("base64url");
      const { count: counted, endsAt } = await count(id, window * 1_000);
      return { count: counted, resetMs: Math.max(0, endsAt.getTime() - Date.now()) };
    },
    close() {
      clearInterval(timer);
    },
  });
}
