/** Random aggregates, sometimes of fields that cannot be aggregated. */
import type { Call, Computation, Json, ListQuery } from "../model.ts";
import { keyOf, keysOf } from "../model.ts";
import { PRICES } from "./data.ts";
import type { Making } from "./making.ts";

const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Nowhere/Else"] as const;
const PARTS = ["year", "quarter", "month", "week", "day", "hour"] as const;

export function aggregateFrom(making: Making, query: ListQuery): Call {
  const { random, entity } = making;
  const fields = entity.fields.filter(({ name }) => name !== "deletedAt");
  const numbers = fields.filter(({ kind }) => kind === "int" || kind === "decimal").map(({ name }) => name);
  const columns = [...fields.map(({ name }) => name), ...keysOf(entity).map(keyOf)];
  const some = (from: readonly string[], probability: number): readonly string[] | undefined => {
    const chosen = random.some(random.chance(0.05) ? columns : from, probability).slice(0, 2);
    return chosen.length > 0 ? chosen : undefined;
  };
  const hasTime = fields.some(({ name }) => name === "at");
  const group = [
    ...random.some(columns, 0.2).slice(0, 2),
    ...(hasTime && random.chance(0.6) ? [`${random.pick(PARTS)}(at)`] : []),
    ...(random.chance(0.03) ? ["id"] : []),
    ...(random.chance(0.02) ? ["month(name)"] : []),
  ];
  const ordered = fields.filter(({ kind }) => kind !== "bool").map(({ name }) => name);
  const sum = some(numbers, 0.5);
  const avg = some(numbers, 0.3);
  const min = some(ordered, 0.2);
  const max = some(ordered, 0.2);
  const computed = { ...(sum && { sum }), ...(avg && { avg }), ...(min && { min }), ...(max && { max }) };
  const measures = Object.entries(computed).flatMap(([kind, names]) => names.map((name) => `${kind}.${name}`));
  const count = random.chance(0.6) || group.length + measures.length === 0;
  const names = [...group, ...(count ? ["count"] : []), ...measures];
  const numeric = [
    ...(count ? ["count"] : []),
    ...measures.filter((name) => numbers.includes(name.split(".")[1] ?? "")),
  ];
  const given = (): Json => (random.chance(0.5) ? random.below(4) : random.pick(PRICES));
  const test = (): Json => ({ [random.pick(["eq", "ne", "gt", "gte", "lt", "lte"])]: given() });
  const sort = random.some(names, 0.3).slice(0, 3);
  const of: Computation = {
    ...(group.length > 0 && { group }),
    ...(count && { count }),
    ...computed,
    ...(random.chance(0.25) && {
      having: { [random.chance(0.9) && numeric.length > 0 ? random.pick(numeric) : "count"]: test() },
    }),
    ...(sort.length > 0 && { sort: sort.map((name) => (random.chance(0.5) ? `-${name}` : name)) }),
    ...(random.chance(0.2) && { limit: 1 + random.below(3) }),
    ...(random.chance(0.15) && { start: random.below(3) }),
    ...(random.chance(0.4) && { zone: random.chance(0.03) ? "Nowhere/Else" : random.pick(ZONES.slice(0, 4)) }),
  };
  return { do: "aggregate", query, of };
}
