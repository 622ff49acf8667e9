import { ConfigurationError } from "../../../entity/index.ts";

/** How a password is hashed: PBKDF2 with 1000 · 2^cost iterations, as fields are, or scrypt, as `hashPassword` does. */
export type PasswordCost = number | "scrypt";

/** The cost of `.password()` (spec 2.4 rule 3). */
export const DEFAULT_COST = 10;

const LEAST = 1;
const MOST = 14;
/** From here on the iterations are what ASVS 5.0 asks of PBKDF2-HMAC-SHA-512: 210,000 or more. */
const SAFE = 8;
/** From here on a login keeps a processor busy for longer than people like to wait. */
const SLOW = 12;

/** What a cost from 1 to 14 means (spec 2.4 rule 3). */
export function iterationsOf(cost: number): number {
  return 1000 * 2 ** cost;
}

/** @throws ConfigurationError unless it is a whole number from 1 to 14, or "scrypt" */
export function checkCost(cost: unknown): asserts cost is PasswordCost {
  if (cost === "scrypt" || isCost(cost)) return;
  throw new ConfigurationError(`the cost of a password is a whole number from ${LEAST} to ${MOST}`);
}

/** What a start-up report says about the cost of a field. */
export interface CostFindings {
  /** What keeps the app from starting. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Looks at the cost of a `.password()` field (spec 2.4 rules 3 and 4). Below 8 is for tests and demos: a warning, in
 * production a problem. From 12 on it is a warning that logins are slow.
 * @param at the field as people write it, such as `user.password`
 */
export function findingsOfCost(at: string, cost: unknown, production: boolean): CostFindings {
  const problems: string[] = [];
  const warnings: string[] = [];
  if (!isCost(cost)) {
    problems.push(`${at}: .password({ cost }) takes a whole number from ${LEAST} to ${MOST}; ${DEFAULT_COST} is usual`);
  } else if (cost < SAFE) {
    const sentence = `${at}: .password({ cost: ${cost} }) is too cheap to protect anybody; production needs ${SAFE} or more`;
    (production ? problems : warnings).push(sentence);
  } else if (cost >= SLOW) {
    const seconds = (0.4 * 2 ** (cost - DEFAULT_COST)).toFixed(1);
    warnings.push(`${at}: .password({ cost: ${cost} }) takes a processor about ${seconds} s for every login`);
  }
  return { problems, warnings };
}

function isCost(cost: unknown): cost is number {
  return Number.isInteger(cost) && (cost as number) >= LEAST && (cost as number) <= MOST;
}
