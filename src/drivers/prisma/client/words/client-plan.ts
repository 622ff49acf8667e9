import type { AnyEntity } from "../../../../entity/index.ts";
import type { EntityPlan } from "../../../sql/index.ts";
import type { Args } from "./client-shape.ts";

/** What is known of an entity, and of its model in a PrismaClient. */
export interface ClientPlan extends EntityPlan {
  /** Property of the client that holds the model's methods. */
  readonly delegate: string;
  /** Prisma's `select` for all columns: never a column that the definition does not have. */
  readonly columns: Args;
  /** Columns whose null has to be spelled out, because null is a JSON value too. */
  readonly jsonColumns: ReadonlySet<string>;
}

/** Property of the client that holds the methods of an entity's model. */
export function delegateOf({ name }: AnyEntity): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** Columns whose values are JSON. */
export function jsonColumnsOf(entity: AnyEntity): string[] {
  return Object.values(entity.columns)
    .filter(({ kind }) => kind.column.scalar === "Json")
    .map(({ name }) => name);
}

/** The same plan with what a PrismaClient is told. */
export function clientPlan(plan: EntityPlan): ClientPlan {
  const { entity } = plan;
  return Object.freeze({
    ...plan,
    delegate: delegateOf(entity),
    columns: Object.freeze(Object.fromEntries(Object.keys(entity.columns).map((name) => [name, true]))),
    jsonColumns: new Set(jsonColumnsOf(entity)),
  });
}
