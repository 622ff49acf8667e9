import { ConfigurationError } from "../../entity/index.ts";
import { type DriverContext, EntityNotFoundError, type EntityRef } from "../../kernel/index.ts";
import { type ClientSource, createClientSource, type OpenedClient } from "./client-source.ts";
import { importDbNull } from "./db-null.ts";
import { compilePlans, type EntityPlan } from "./entity-plan.ts";
import type { WhereContext } from "./to-prisma-where.ts";

/** A database and all that was compiled for it. */
export interface Connection extends WhereContext {
  readonly clients: ClientSource;
  /** @throws EntityNotFoundError when the app has no such entity */
  planOf(ref: EntityRef): EntityPlan;
}

/**
 * Compiles what statements need.
 * @param reopen Opens another client in place of one that broke. @default a broken client stays
 * @throws ConfigurationError
 */
export async function createConnection(
  opened: OpenedClient,
  { model, log }: DriverContext,
  reopen: (() => Promise<OpenedClient>) | undefined,
): Promise<Connection> {
  const plans = compilePlans(model);
  const hasJson = [...plans.values()].some(({ jsonColumns }) => jsonColumns.size > 0);
  const dbNull = hasJson ? await importDbNull() : undefined;
  return Object.freeze({
    clients: createClientSource(opened, log, reopen),
    dialect: opened.dialect,
    model,
    dbNull,
    planOf(ref: EntityRef): EntityPlan {
      // By name: a builder makes a new definition on every build(), and the app's own one counts.
      const name = typeof ref === "string" ? ref : (ref as { readonly name: string }).name;
      const plan = plans.get(name);
      if (plan === undefined) throw new EntityNotFoundError(`There is no entity "${name}"`);
      return plan;
    },
  });
}

/** What a driver says that is used before its app has started. */
export function notConnected(name: string): ConfigurationError {
  return new ConfigurationError(`the ${name} driver is not connected; start the app first (await api.ready)`);
}
