import type { Row } from "../../kernel/index.ts";
import { type Args, modelApi } from "./client-shape.ts";
import type { EntityPlan } from "./entity-plan.ts";
import { type ReadById, readTogether } from "./read-together.ts";
import type { Session } from "./session.ts";

/** Lists of columns that are read together are few; a caller who invents new ones reads alone. */
const MAX_GROUPS = 256;

/** Reads records by id, each entity and list of columns in batches of its own. */
export function createReadById(session: Session): (plan: EntityPlan, select: Args) => ReadById {
  const groups = new Map<string, ReadById>();

  function alone({ entity, delegate }: EntityPlan, select: Args): ReadById {
    const statement = { model: entity.name, operation: "findOne" };
    return (id) => session.read(statement, (client) => modelApi(client, delegate).findFirst({ where: { id }, select }));
  }

  function together(plan: EntityPlan, select: Args): ReadById {
    const statement = { model: plan.entity.name, operation: "findOne" };
    return readTogether(
      alone(plan, select),
      (ids): Promise<readonly Row[]> =>
        session.read(statement, (client) =>
          modelApi(client, plan.delegate).findMany({ where: { id: { in: ids } }, select }),
        ),
    );
  }

  return (plan, select) => {
    // A transaction has one connection, and rows that are told apart by id need it.
    if (session.inTransaction || select.id !== true) return alone(plan, select);
    const key = `${plan.entity.name} ${Object.keys(select).join()}`;
    const known = groups.get(key);
    if (known !== undefined) return known;
    const group = together(plan, select);
    if (groups.size < MAX_GROUPS) groups.set(key, group);
    return group;
  };
}
