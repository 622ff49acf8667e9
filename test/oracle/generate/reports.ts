/** Calls of actions whose handlers read records themselves, and reads of OpenAPI documents. */
import { type Call, type HandlerRead, keyOf, keysOf, type Reader } from "../model.ts";
import { clientCall } from "../through-clients.ts";
import { type Making, someId } from "./making.ts";
import { ownCondition } from "./model.ts";
import { queryOf, shapeOf } from "./parts.ts";

export const readerFrom = ({ random, features }: Making): Reader =>
  random.chance(0.8) || features.has("tenancy") ? "own" : random.pick(["public", "system"]);

/** A call of the action whose handler reads records itself. */
export function reportFrom(making: Making): Call | undefined {
  const { random, entity } = making;
  if (entity.report === undefined) return undefined;
  return {
    do: "report",
    ...(entity.report.onResource && { id: someId(making, entity.name) }),
    read: readFrom(making),
    handling: random.pick(["asIs", "copied", "claimed", "claimed", "nested"]),
  };
}

function readFrom(making: Making): HandlerRead {
  const { random, model, entity } = making;
  const roll = random.below(10);
  if (roll < 1 || (roll < 3 && entity.report?.onResource)) return { from: "record" };
  const other = random.chance(0.5) ? entity : random.pick(model.entities);
  const { name } = other;
  if (roll < 7) {
    const columns = [...other.fields.map((one) => one.name), ...keysOf(other).map(keyOf)];
    return {
      from: "driver",
      entity: name,
      where: random.chance(0.4)
        ? { is: "column", column: "id", op: random.chance(0.5) ? "ne" : "eq", value: someId(making, name) }
        : ownCondition(random, other, { me: false }),
      ...(random.chance(0.4) && { one: true }),
      ...(random.chance(0.25) && { select: ["id", ...random.some(columns, 0.6)] }),
      ...(random.chance(0.2) && { inTransaction: true }),
    };
  }
  const there = { ...making, entity: other };
  const call = random.chance(0.5)
    ? ({ do: "get", id: someId(making, name), query: shapeOf(there) } as const)
    : ({ do: "list", query: queryOf(there) } as const);
  return clientCall(other, call) === undefined ? readFrom(making) : { from: "client", entity: name, call };
}
