import { ConfigurationError } from "../../entity/index.ts";
import type { Route } from "../../gate/index.ts";
import { didYouMean, type KernelRequest } from "../../kernel/index.ts";

/** Options of `idempotency`. */
export interface IdempotencyOptions {
  /**
   * Requests that need a key: methods ("POST"), actions of entities ("order.create", "order.pay") and names of plugin
   * endpoints; true for all requests that change data.
   * @default none
   */
  readonly required?: true | readonly string[] | undefined;
  /**
   * Actions ("order.pay") and endpoints that do not run in one transaction with their key: those that start workflows,
   * or wait for other services. If the process crashes between their work and the end of the request, they run again
   * with the same `scope.state.idempotencyKey`. Actions that are workflows need not be listed.
   * @default none
   */
  readonly withoutTransaction?: readonly string[] | undefined;
  /**
   * Identifies callers without a user by a secret, such as their session cookie; undefined for callers without one.
   * Never use an address or a header that another caller may send, too: a caller mistaken for another would receive
   * that caller's responses.
   * @default undefined for all: a key without a user is refused with 400
   */
  readonly guestOf?: ((request: KernelRequest) => string | undefined) | undefined;
  /** Whether stored responses are encrypted; needs the app's `encryption`. @default false */
  readonly encrypted?: boolean | undefined;
  /** Milliseconds for which a key and its response are stored. @default 86400000 (24 hours) */
  readonly ttlMs?: number | undefined;
  /** The largest body of a stored response in bytes. @default 262144 */
  readonly answerBytes?: number | undefined;
  /**
   * The most requests with a key that have an open transaction at the same time; others wait before they begin one.
   * Keep it below the number of connections, so that requests without a key always find one.
   * @default half of the driver's connections, shared with batches and nested writes, if the driver knows them
   * (`postgres`); 4 otherwise
   */
  readonly transactions?: number | undefined;
  /**
   * Milliseconds after which a process that does not renew its lease loses its request, and so the time for which
   * repetitions get 409 after a crash. Must be more than the difference between the clocks of two machines. @default
   * 10000
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

/** The options, completed with defaults. */
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

/** The options by route. */
export interface KeyRules {
  /** Whether requests to a route may have a key. */
  takes(route: Route): boolean;
  requires(route: Route): boolean;
  /** Whether the work and its key share a transaction. */
  isTransaction(route: Route): boolean;
}

/** Methods whose repetition may change data again (RFC 9110, section 9.2.1). */
const UNSAFE: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * Resolves the options by route, once.
 * @throws ConfigurationError for names that match no route
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
