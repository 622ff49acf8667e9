import { ConfigurationError, type EntityModel } from "../../../entity/index.ts";
import type { PluginContext } from "../../../gate/index.ts";

/** How a password is hashed: PBKDF2 with 1000 · 2^cost iterations, as in fields, or scrypt, as in `hashPassword`. */
export type PasswordCost = number | "scrypt";

/** The cost of `.password()` (spec 2.4 rule 3). */
export const DEFAULT_COST = 10;

const LEAST = 1;
const MOST = 14;
/** Costs from here on have the iterations that ASVS 5.0 requires of PBKDF2-HMAC-SHA-512: 210,000 or more. */
const SAFE = 8;
/** Costs from here on make a login noticeably slow. */
const SLOW = 12;

/** The iterations of a cost from 1 to 14 (spec 2.4 rule 3). */
export function iterationsOf(cost: number): number {
  return 1000 * 2 ** cost;
}

/** @throws ConfigurationError unless it is a whole number from 1 to 14, or "scrypt" */
export function checkCost(cost: unknown): asserts cost is PasswordCost {
  if (cost === "scrypt" || isCost(cost)) return;
  throw new ConfigurationError(`the cost of a password is a whole number from ${LEAST} to ${MOST}`);
}

/**
 * Checks the cost of a `.password()` field (spec 2.4 rules 3 and 4). Costs below 8 are for tests and demos: they are a
 * warning, and in production a problem. From 12 on, a warning says that logins are slow.
 * @param at the field in messages, such as `user.password`
 * @returns problems that keep the app from starting, and warnings
 */
export function findingsOfCost(
  at: string,
  cost: unknown,
  production: boolean,
): { readonly problems: readonly string[]; readonly warnings: readonly string[] } {
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

/** A hashed field and the cost of its hash. */
export interface PasswordColumn {
  readonly name: string;
  readonly cost: number;
}

/** Hashed fields by entity name; entities without them are absent. */
export function passwordColumns(model: EntityModel): ReadonlyMap<string, readonly PasswordColumn[]> {
  const columns = new Map<string, readonly PasswordColumn[]>();
  for (const entity of model.entities) {
    const own = Object.entries(entity.fields).flatMap(([name, { password }]) =>
      password === undefined ? [] : [{ name, cost: password.cost }],
    );
    if (own.length > 0) columns.set(entity.name, own);
  }
  return columns;
}

/** Reports hashed fields whose cost is too low or very high. */
export function reportCosts(
  columns: ReadonlyMap<string, readonly PasswordColumn[]>,
  { production, log, problem }: Pick<PluginContext, "log" | "problem"> & { readonly production: boolean },
): void {
  for (const [entity, own] of columns)
    for (const { name, cost } of own) {
      const { problems, warnings } = findingsOfCost(`${entity}.${name}`, cost, production);
      for (const sentence of problems) problem(sentence);
      for (const sentence of warnings) log.warn(sentence);
    }
}
