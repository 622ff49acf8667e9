import { and, type Compare, type Condition, type Row } from "../../gate/index.ts";
import { type Args, modelApi } from "./client-shape.ts";
import type { EntityPlan } from "./entity-plan.ts";
import { readTogether } from "./read-together.ts";
import type { Session } from "./session.ts";
import { toPrismaWhere } from "./to-prisma-where.ts";

/** Reads that can be one statement: the same columns under the same further conditions. */
interface Group {
  readonly plan: EntityPlan;
  readonly select: Args;
  /** Conditions besides the id. */
  readonly rest: Args;
}

/** A condition taken apart into the one id it asks for and all else. */
export interface ById {
  readonly id: string;
  readonly rest: Condition;
}

function isId(condition: Condition): condition is Compare {
  if (condition.op !== "compare" || condition.test !== "eq") return false;
  return condition.column.role === "id" && condition.value !== null;
}

/** Undefined when a condition asks for more or less than one id. */
export function byId(condition: Condition): ById | undefined {
  const parts = condition.op === "and" ? condition.of : [condition];
  const ids = parts.filter(isId);
  if (ids.length !== 1) return undefined;
  return { id: ids[0]?.value as string, rest: and(parts.filter((part) => !isId(part))) };
}

/** Reads single records by id, together with others who ask in the same moment. */
export function createReadById(
  session: Session,
): (plan: EntityPlan, select: Args, condition: ById) => Promise<Row | null> {
  const read = readTogether(async ({ plan, select, rest }: Group, ids) => {
    const statement = { model: plan.entity.name, operation: "find" };
    return session.read(statement, async (client) => {
      const api = modelApi(client, plan.delegate);
      if (ids.length > 1) return api.findMany({ where: { id: { in: ids }, ...rest }, select });
      const row = await api.findFirst({ where: { id: ids[0], ...rest }, select });
      return row === null ? [] : [row];
    });
  });
  return (plan, select, { id, rest }) => {
    const where = toPrismaWhere(rest, session.connection());
    const group: Group = { plan, select, rest: "id" in where ? { AND: [where] } : where };
    return read(`${plan.entity.name} ${Object.keys(select).join()} ${JSON.stringify(where)}`, group, id);
  };
}
