import type { Row } from "../../../gate/index.ts";
import { type ById, readTogether } from "../../sql/index.ts";
import type { ClientSession } from "./words/client-connection.ts";
import type { ClientPlan } from "./words/client-plan.ts";
import { type Args, modelApi } from "./words/client-shape.ts";
import { toPrismaWhere } from "./words/to-prisma-where.ts";

/** Reads that can be one statement: the same columns under the same further conditions. */
interface Group {
  readonly plan: ClientPlan;
  readonly select: Args;
  /** Conditions besides the id. */
  readonly rest: Args;
}

/** Reads single records by id, together with others who ask in the same moment. */
export function createReadById(
  session: ClientSession,
): (plan: ClientPlan, select: Args, condition: ById) => Promise<Row | null> {
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
