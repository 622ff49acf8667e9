import { ConfigurationError } from "../../../../entity/index.ts";
import type { DriverContext, EntityRef } from "../../../../gate/index.ts";
import { type Connection, createConnection, type OpenedClient, type Session } from "../../../sql/index.ts";
import { CLIENT_DIALECTS } from "./client-dialect.ts";
import { type ClientPlan, clientPlan, jsonColumnsOf } from "./client-plan.ts";
import type { Client, StatementClient } from "./client-shape.ts";
import type { WhereContext } from "./to-prisma-where.ts";

/** A database that is asked through a PrismaClient, and all that was compiled for it. */
export interface ClientConnection extends Connection<Client>, WhereContext {
  readonly dialect: WhereContext["dialect"];
  planOf(ref: EntityRef): ClientPlan;
}

/** Where statements of a PrismaClient go. */
export type ClientSession = Session<StatementClient, ClientConnection>;

/** @throws ConfigurationError */
export async function createClientConnection(
  opened: OpenedClient<Client>,
  context: DriverContext,
): Promise<ClientConnection> {
  const { entities } = context.model;
  const hasJson = entities.some((entity) => jsonColumnsOf(entity).length > 0);
  const dbNull = hasJson ? await importDbNull() : undefined;
  const connection = createConnection(opened, context);
  const plans = new Map(entities.map(({ name }) => [name, clientPlan(connection.planOf(name))]));
  return Object.freeze({
    ...connection,
    dbNull,
    dialect: CLIENT_DIALECTS[opened.dialect.provider],
    planOf: (ref: EntityRef) => plans.get(connection.planOf(ref).entity.name) as ClientPlan,
  });
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
