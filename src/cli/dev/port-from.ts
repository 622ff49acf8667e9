import { ConfigurationError } from "../../entity/index.ts";

/** The port that was asked for. @throws ConfigurationError for what is none */
export function portFrom(given: string | undefined): number {
  const text = given ?? (process.env.PORT || "3000");
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new ConfigurationError(`The port is a number from 0 (any free one) to 65535, not "${text}"`);
}
