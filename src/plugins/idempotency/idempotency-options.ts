import { ConfigurationError } from "../../entity/index.ts";
import type { Route } from "../../gate/index.ts";
import { didYouMean, type KernelRequest } from "../../kernel/index.ts";

/** Options of `idempotency`. */
export interface IdempotencyOptions {
  /**
   * Requests that are refused without a key: methods ("POST"), actions of entities ("order.create", "order.pay"), and names of
   * plugin endpoints; true for all that change something.
   * @default none
   */
  readonly required?: true | readonly string[] | undefined;
  /**
   * Actions ("order.pay") and endpoints that are not run in one transaction with their key: those that start workflows,
   * or wait for others while they run. If the process crashes between their work and the end of the request, they run
   * again with the same `scope.state.idempotencyKey`. Actions that are workflows need not be listed.
   * @default none
   */
  readonly withoutTransaction?: readonly string[] | undefined;
  /**
   * Tells callers without a user apart, by a secret such as their session cookie; undefined for callers without one.
   * Never use an address or a header that another caller may send too: a caller mistaken for another would receive that
   * caller's responses.
   * @default undefined for all: a key without a user is refused with 400
   */
  readonly guestOf?: ((request: KernelRequest) => string | undefined) | undefined;
  /** Whether answers are encrypted where they are kept; needs `encryption` of the app. @default false */
  readonly encrypted?: boolean | undefined;
  /** Milliseconds that a key and its answer are kept. @default 86400000 (24 hours) */
  readonly ttlMs?: number | undefined;
  /** Bytes of the body of an answer that is kept. @default 262144 */
  readonly answerBytes?: number | undefined;
  /**
   * Requests with a key that may have a transaction open at the same time; others wait before theirs begins. Keep it below
   * the number of connections, so that requests without a key always find one.
   * @default together with batches and nested writes half of the driver's connections where it knows them (`postgres`), 4 elsewhere
   */
  readonly transactions?: number | undefined;
  /**
   * Milliseconds after which a process that says nothing has lost its request: how long a repetition is refused with 409 after a
   * crash. More than the clocks of two machines differ. @default 10000
   */
  readonly leaseMs?: number | undefined;
}

/** The names of the options. */
export const KNOWN: Readonly<Record<keyof IdempotencyOptions, true>> = {
  required: true,
  withoutTransaction: true,
  guestOf: true,
  encrypted: true,
  ttlMs: true,
  answerBytes: true,
  transactions: true,
  leaseMs: true,
};

/** The options in whole. */
export interface IdempotencySettings {
  readonly required: true | readonly string[];
  readonly withoutTransaction: readonly string[];
  readonly guestOf: (request: KernelRequest) => string | undefined;
  readonly encrypted: boolean;
  readonly ttlMs: number;
  readonly answerBytes: number;
  readonly transactions: number | undefined;
  readonly leaseMs: number;
}

/** @throws ConfigurationError for numbers below 1 */
export function completeOptions({
  required = [],
  withoutTransaction = [],
  guestOf = () => undefined,
  encrypted = false,
  ttlMs = 86_400_000,
  answerBytes = 262_144,
  transactions,
  leaseMs = 10_000,
}: IdempotencyOptions): IdempotencySettings {
  const numbers = { ttlMs, answerBytes, leaseMs };
  const problems = Object.entries({ ...numbers, transactions: transactions ?? 1 })
    .filter(([, value]) => !Number.isSafeInteger(value) || value < 1)
    .map(([name]) => `idempotency: ${name} must be a whole number from 1`);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return Object.freeze({ ...numbers, transactions, required, withoutTransaction, guestOf, encrypted });
}

/** What holds for which routes. */
export interface KeyRules {
  /** Whether requests of a route may carry a key at all. */
  takes(route: Route): boolean;
  requires(route: Route): boolean;
  /** Whether the work and its key are one transaction. */
  isTransaction(route: Route): boolean;
}

/** Methods whose repetition may change something once more (RFC 9110, section 9.2.1). */
const UNSAFE: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * What the options say, by route: worked out once.
 * @throws ConfigurationError for names that no route has
 */
export function keyRulesOf(
  all: readonly Route[],
  { required, withoutTransaction }: Pick<IdempotencySettings, "required" | "withoutTransaction">,
): KeyRules {
  const routes = all.filter(({ method, early }) => UNSAFE.has(method) && early !== true);
  const problems: string[] = [];
  const named = (option: string, names: readonly string[]): ReadonlySet<Route> => {
    const known = [...UNSAFE, ...routes.map(nameOf)];
    for (const name of names)
      if (!known.includes(name))
        problems.push(`idempotency: ${option} has "${name}", and no route is called so.${didYouMean(name, known)}`);
    return new Set(routes.filter((route) => names.includes(route.method) || names.includes(nameOf(route))));
  };
  const taking = new Set(routes);
  const requiring = required === true ? taking : named("required", required);
  const apart = named("withoutTransaction", withoutTransaction);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return Object.freeze<KeyRules>({
    takes: (route) => taking.has(route),
    requires: (route) => requiring.has(route),
    isTransaction: (route) => route.transactional !== false && !apart.has(route),
  });
}

function nameOf({ entity, action }: Route): string {
  return entity === undefined ? action : `${entity.name}.${action}`;
}
