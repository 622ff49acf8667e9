import { benchDatabaseUrl } from "../database.ts";

/**
 * For libraries whose transaction holds one connection while the work in it asks for another: with the ten of everybody
 * else, and more requests than that at a time, each would wait for the others for ever.
 */
export const twoAtATime = {
  connectionString: benchDatabaseUrl(),
  max: 40,
  // Given back soon: the pools of all contenders together may not have more than PostgreSQL's hundred.
  idleTimeoutMillis: 1_000,
};
