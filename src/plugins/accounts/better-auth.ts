import { createRequire } from "node:module";
import type { betterAuth } from "better-auth";
import type { createAdapterFactory } from "better-auth/adapters";
import type { getAuthTables } from "better-auth/db";
import { ConfigurationError } from "../../entity/index.ts";

/** The used part of better-auth. */
interface BetterAuth {
  readonly betterAuth: typeof betterAuth;
  readonly createAdapterFactory: typeof createAdapterFactory;
  readonly getAuthTables: typeof getAuthTables;
}

/**
 * Loads better-auth synchronously: its tables are entities, which an app needs before anything can be awaited.
 * @throws ConfigurationError if it is not installed
 */
export function loadBetterAuth(): BetterAuth {
  const load = createRequire(import.meta.url);
  try {
    return { ...load("better-auth"), ...load("better-auth/adapters"), ...load("better-auth/db") };
  } catch (error) {
    throw new ConfigurationError("keelson/better-auth needs a package that is missing: npm install better-auth", {
      cause: error,
    });
  }
}
