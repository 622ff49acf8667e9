import { existsSync } from "node:fs";

/**
 * Takes over variables of `.env` in the working directory that are not set yet.
 * @param mode what NODE_ENV becomes when nobody has said
 */
export function loadEnvironment(mode: "development" | "production"): void {
  if (existsSync(".env")) process.loadEnvFile(".env");
  // Types that a web framework brings along declare it read-only.
  const environment: Record<string, string | undefined> = process.env;
  environment.NODE_ENV ??= mode;
}
