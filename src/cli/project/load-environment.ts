import { existsSync } from "node:fs";

/**
 * Loads variables from `.env` in the working directory, unless they are set already.
 * @param mode value of NODE_ENV when it is not set
 */
export function loadEnvironment(mode: "development" | "production"): void {
  if (existsSync(".env")) process.loadEnvFile(".env");
  // Types that a web framework brings along declare it read-only.
  const environment: Record<string, string | undefined> = process.env;
  environment.NODE_ENV ??= mode;
}
