import type { Condition, Row } from "../../../gate/index.ts";
import type { EntityPlan } from "../session/entity-plan.ts";
import type { Selection } from "../statement/select-query.ts";
import type { SqlSession } from "../statement/sql-connection.ts";
import type { Encoded } from "../statement/write-queries.ts";
import { insertKind, updateKind } from "./write-kinds.ts";
import { writeTogether } from "./write-together.ts";

/** Writes that are sent together with others of the same moment; undefined for those that go on their own. */
export interface SharedWrites {
  insert(plan: EntityPlan, given: Encoded, all: Selection): (() => Promise<Row>) | undefined;
  update(
    plan: EntityPlan,
    { id, condition }: { readonly id: string; readonly condition: Condition },
    given: Encoded,
    all: Selection,
  ): (() => Promise<Row | null>) | undefined;
}

/** Writes single records together with others. Not for transactions, whose statements have an order. */
export function sharedWrites(session: SqlSession): SharedWrites {
  const together = writeTogether(session);
  return {
    insert(plan, given, all) {
      const kind = insertKind(session.connection(), plan, [...given.keys()], all);
      if (kind === undefined) return undefined;
      return () => together(kind, given.get("id") as string, [...given.values()]) as Promise<Row>;
    },
    update(plan, { id, condition }, given, all) {
      const write = updateKind(session.connection(), plan, condition, given, all);
      return write && (() => together(write.kind, id, write.values));
    },
  };
}
