import { ConfigurationError, type EntityModel } from "../../../entity/index.ts";
import type { DriverContext, EntityRef } from "../../../gate/index.ts";
import { EntityNotFoundError } from "../../../kernel/index.ts";
import { compilePlans, type EntityPlan } from "./entity-plan.ts";
import type { OpenedClient } from "./opened-client.ts";

/** A database and all that was compiled for it. */
export interface Connection<C> extends OpenedClient<C> {
  readonly model: EntityModel;
  /** @throws EntityNotFoundError when the app has no such entity */
  planOf(ref: EntityRef): EntityPlan;
}

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

/** What a driver says that is used before its app has started. */
export function notConnected(name: string): ConfigurationError {
  return new ConfigurationError(`the ${name} driver is not connected; start the app first (await api.ready)`);
}
