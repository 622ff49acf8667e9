import type { AnyEntity } from "../../entity/index.ts";
import type { Condition } from "../../kernel/index.ts";
import type { Args, StatementClient } from "./client-shape.ts";
import type { Connection } from "./connection.ts";
import { lookUpWildcards, searchesWildcards } from "./literal-wildcards.ts";
import { toPrismaWhere } from "./to-prisma-where.ts";

/** A condition in Prisma's words, after asking the database for what it cannot say in them. */
export function prismaWhere(
  open: Connection,
  client: StatementClient,
  entity: AnyEntity,
  condition: Condition,
): Args | Promise<Args> {
  if (open.dialect.wildcards === "escaped" || !searchesWildcards(condition)) return toPrismaWhere(condition, open);
  return lookUpWildcards(client, entity, condition).then((found) => toPrismaWhere(found, open));
}
