import type { AnyEntity } from "../../entity/index.ts";
import type { Condition } from "../../kernel/index.ts";
import type { Args, StatementClient } from "./client-shape.ts";
import type { ClientConnection } from "./connection.ts";
import type { Dialect } from "./dialect.ts";
import { lookUpSearches, needsLookUp } from "./look-up-searches.ts";
import { toPrismaWhere } from "./to-prisma-where.ts";

/** Whether Prisma has words for all of a condition. */
export function saysAll(dialect: Dialect, condition: Condition): boolean {
  return !needsLookUp(condition, dialect);
}

/** A condition in Prisma's words, after asking the database for what it cannot say in them. */
export function prismaWhere(
  open: ClientConnection,
  client: StatementClient,
  entity: AnyEntity,
  condition: Condition,
): Args | Promise<Args> {
  if (saysAll(open.dialect, condition)) return toPrismaWhere(condition, open);
  return lookUpSearches(client, open.dialect, entity, condition).then((found) => toPrismaWhere(found, open));
}
