import { ConfigurationError, type EntityModel } from "../../entity/index.ts";
import { type DriverContext, EntityNotFoundError, type EntityRef, type Logger } from "../../kernel/index.ts";
import type { Client } from "./client-shape.ts";
import { importDbNull } from "./db-null.ts";
import type { Dialect } from "./dialect.ts";
import { compilePlans, type EntityPlan } from "./entity-plan.ts";
import type { WhereContext } from "./to-prisma-where.ts";

/** A client that is ready for statements. */
export interface OpenedClient {
  readonly client: Client;
  readonly dialect: Dialect;
  /** Lets go of everything that was opened. */
  close(): Promise<void>;
}

/** A database and all that was compiled for it. */
export interface Connection extends OpenedClient, WhereContext {
  readonly model: EntityModel;
  readonly log: Logger;
  /** @throws EntityNotFoundError when the app has no such entity */
  planOf(ref: EntityRef): EntityPlan;
}

/** Compiles what statements need. @throws ConfigurationError */
export async function createConnection(opened: OpenedClient, { model, log }: DriverContext): Promise<Connection> {
  const plans = compilePlans(model);
  const hasJson = [...plans.values()].some(({ jsonColumns }) => jsonColumns.size > 0);
  const dbNull = hasJson ? await importDbNull() : undefined;
  return Object.freeze({
    ...opened,
    model,
    log,
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
