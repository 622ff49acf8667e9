import { ConfigurationError, type EntityModel } from "../../entity/index.ts";
import type { DriverContext, EntityRef } from "../../gate/index.ts";
import { EntityNotFoundError } from "../../kernel/index.ts";
import type { Client } from "./client-shape.ts";
import { compilePlans, type EntityPlan, jsonColumnsOf } from "./entity-plan.ts";
import type { OpenedClient } from "./opened-client.ts";
import type { WhereContext } from "./to-prisma-where.ts";

/** A database and all that was compiled for it. */
export interface Connection<C> extends OpenedClient<C> {
  readonly model: EntityModel;
  /** @throws EntityNotFoundError when the app has no such entity */
  planOf(ref: EntityRef): EntityPlan;
}

/** The same with a PrismaClient. */
export type ClientConnection = Connection<Client> & WhereContext;

/**
 * Compiles what statements need.
 * @throws ConfigurationError when two entities would be one model
 */
export function createConnection<C>(opened: OpenedClient<C>, { model }: DriverContext): Connection<C> {
  const plans = compilePlans(model);
  return Object.freeze({
    ...opened,
    model,
    planOf(ref: EntityRef): EntityPlan {
      // By name: a builder makes a new definition on every build(), and the app's own one counts.
      const name = typeof ref === "string" ? ref : (ref as { readonly name: string }).name;
      const plan = plans.get(name);
      if (plan === undefined) throw new EntityNotFoundError(`There is no entity "${name}"`);
      return plan;
    },
  });
}

/** @throws ConfigurationError */
export async function createClientConnection(
  opened: OpenedClient<Client>,
  context: DriverContext,
): Promise<ClientConnection> {
  const hasJson = context.model.entities.some((entity) => jsonColumnsOf(entity).length > 0);
  const dbNull = hasJson ? await importDbNull() : undefined;
  return Object.freeze({ ...createConnection(opened, context), dbNull });
}

/** What a driver says that is used before its app has started. */
export function notConnected(name: string): ConfigurationError {
  return new ConfigurationError(`the ${name} driver is not connected; start the app first (await api.ready)`);
}

/**
 * Prisma's value for “no value” in a JSON column, where `null` would be stored as a JSON value. Generated clients take it
 * from the same place; Prisma recognises it by a shared symbol, so another copy of the package is as good.
 */
async function importDbNull(): Promise<unknown> {
  try {
    return (await import("@prisma/client/runtime/client")).DbNull;
  } catch (cause) {
    throw new ConfigurationError('json fields need "@prisma/client". Run: npm i @prisma/client', { cause });
  }
}
