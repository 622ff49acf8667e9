/** The results of aggregates (guides/queries.md, “Aggregates”): a fold over the caller's list. */
import type { Call, Computation, EntityModel, FieldModel, Principal, Row, Scalar } from "../model.ts";
import { keyOf, keysOf } from "../model.ts";
import { ordered } from "./filters.ts";
import { INVALID, type Outcome, type Setting } from "./outcome.ts";
import { found, isRefused } from "./reads.ts";
import { reachOf } from "./rules.ts";
import { filterable, readableReach } from "./shown.ts";

type Aggregate = Extract<Call, { do: "aggregate" }>;
type Kind = "sum" | "avg" | "min" | "max";
const KINDS: readonly Kind[] = ["sum", "avg", "min", "max"];
const PARTS = ["year", "quarter", "month", "week", "day", "hour"];
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"];

export function aggregate(setting: Setting, { query, of }: Aggregate): Outcome[] {
  const rows = found(setting, query);
  const { entity, by } = setting;
  const isAsked = isComputable(entity, by, of);
  const mayList = reachOf(entity, entity.rules.read, by, "list") !== "none";
  if (isRefused(rows)) return isAsked || !mayList ? rows : [...rows, INVALID];
  if (!isAsked) return [INVALID];
  const groups = new Map<string, Group>();
  const names = of.group ?? [];
  const add = (keys: readonly Scalar[]): Row[] => {
    const known = groups.get(JSON.stringify(keys)) ?? { keys, rows: [] };
    groups.set(JSON.stringify(keys), known);
    return known.rows;
  };
  if (names.length === 0) add([]);
  for (const row of rows ?? []) add(names.map((name) => keyIn(row, name, of.zone ?? "UTC"))).push(row);
  const all = [...groups.values()]
    .filter((group) => group.rows.length >= (entity.minGroup ?? 0))
    .filter((group) =>
      Object.entries(of.having ?? {}).every(([name, tests]) => passesTests(entity, group, name, tests)),
    )
    .sort(inOrder(entity, of));
  const start = of.start ?? 0;
  const page = all.slice(start, start + (of.limit ?? 100));
  return [{ status: 200, body: page.map((group) => answered(entity, of, group)) }];
}

/** The records that have equal group values. */
interface Group {
  readonly keys: readonly Scalar[];
  readonly rows: Row[];
}

/** A comparable field that the caller may read on every record, such as the id and keys. */
function usable(entity: EntityModel, by: Principal, name: string): FieldModel | "key" | undefined {
  if (name === "id" || keysOf(entity).some((one) => keyOf(one) === name)) return "key";
  const field = entity.fields.find((one) => one.name === name);
  if (field === undefined || field.encrypted || readableReach(entity, field, by) !== "all") return undefined;
  return filterable(entity, field, by) ? field : undefined;
}

const partOf = (name: string): readonly [part: string, field: string] | undefined => {
  const [, part, field] = /^(\w+)\((\w+)\)$/.exec(name) ?? [];
  return part === undefined || field === undefined ? undefined : [part, field];
};

function isComputable(entity: EntityModel, by: Principal, of: Computation): boolean {
  const isGroup = (name: string): boolean => {
    const [part, field] = partOf(name) ?? [];
    if (part === undefined) return usable(entity, by, name) !== undefined;
    const found = usable(entity, by, field as string);
    return PARTS.includes(part) && typeof found === "object" && found.kind === "datetime";
  };
  const isMeasure = (kind: Kind, name: string): boolean => {
    const found = usable(entity, by, name);
    if (found === undefined) return false;
    if (kind === "sum" || kind === "avg") return found !== "key" && (found.kind === "int" || found.kind === "decimal");
    return found === "key" || found.kind !== "bool";
  };
  const isNumber = (measure: string): boolean => {
    const kind = entity.fields.find((one) => one.name === measure.split(".")[1])?.kind;
    return measure === "count" || kind === "int" || kind === "decimal";
  };
  const asked = measuresOf(of);
  const names = [...(of.group ?? []), ...asked];
  return (
    names.length > 0 &&
    (of.group ?? []).every(isGroup) &&
    KINDS.every((kind) => (of[kind] ?? []).every((name) => isMeasure(kind, name))) &&
    Object.keys(of.having ?? {}).every((name) => asked.includes(name) && isNumber(name)) &&
    (of.sort ?? []).every((key) => names.includes(key.replace(/^-/, ""))) &&
    ZONES.includes(of.zone ?? "UTC")
  );
}

/** Names of measures in `having` and `_sort`. */
const measuresOf = (of: Computation): string[] => [
  ...(of.count ? ["count"] : []),
  ...KINDS.flatMap((kind) => (of[kind] ?? []).map((name) => `${kind}.${name}`)),
];

/** The group value of a record: a column's value, or the start of a calendar period in a time zone. */
function keyIn(row: Row, name: string, zone: string): Scalar {
  const [part, field] = partOf(name) ?? [];
  const value = row[field ?? name] ?? null;
  if (part === undefined || value === null) return value;
  const [date = "", time = ""] = new Date(String(value)).toLocaleString("sv-SE", { timeZone: zone }).split(" ");
  const [year = "", month = ""] = date.split("-");
  if (part === "hour") return `${date}T${time.slice(0, 2)}:00`;
  if (part === "year") return `${year}-01-01`;
  if (part === "month") return `${year}-${month}-01`;
  if (part === "quarter") return `${year}-${["01", "04", "07", "10"][Math.floor((Number(month) - 1) / 3)]}-01`;
  const day = new Date(`${date}T00:00:00Z`);
  while (part === "week" && day.getUTCDay() !== 1) day.setUTCDate(day.getUTCDate() - 1);
  return day.toISOString().slice(0, 10);
}

/** A measure of a group: null if there is no value to compute it from. */
function measured(entity: EntityModel, rows: readonly Row[], name: string): Scalar {
  if (name === "count") return rows.length;
  const [kind, column] = name.split(".") as [Kind, string];
  const field = entity.fields.find((one) => one.name === column);
  const values = rows.map((row) => row[column] ?? null).filter((value) => value !== null);
  if (values.length === 0) return null;
  if (kind === "min" || kind === "max") {
    const sorted = [...values].sort((a, b) => ((ordered(field, a) as string) < (ordered(field, b) as string) ? -1 : 1));
    return (kind === "min" ? sorted[0] : sorted.at(-1)) as Scalar;
  }
  if (field?.kind === "int") {
    const sum = values.reduce<number>((all, value) => all + Number(value), 0);
    return kind === "sum" ? sum : sum / values.length;
  }
  const cents = values.reduce<number>((all, value) => all + Math.round(Number(value) * 100), 0);
  if (kind === "sum") return (cents / 100).toFixed(2);
  // Four more digits; halves are rounded away from zero.
  const rounded = Math.floor((Math.abs(cents) * 20_000) / (2 * values.length) + 0.5) / 1_000_000;
  return `${cents < 0 && rounded !== 0 ? "-" : ""}${rounded.toFixed(6)}`;
}

function passesTests(entity: EntityModel, group: Group, name: string, tests: unknown): boolean {
  const value = measured(entity, group.rows, name);
  return Object.entries(tests as { [test: string]: Scalar }).every(([test, given]) => {
    if (value === null) return test === "ne";
    const by = Number(value) - Number(given);
    return { eq: by === 0, ne: by !== 0, gt: by > 0, gte: by >= 0, lt: by < 0, lte: by <= 0 }[test];
  });
}

/** By the requested sort, then by the keys; null is the smallest value. */
function inOrder(entity: EntityModel, of: Computation): (a: Group, b: Group) => number {
  const names = of.group ?? [];
  const worthOf = ({ keys, rows }: Group, name: string): Scalar => {
    const at = names.indexOf(name);
    const value = at === -1 ? measured(entity, rows, name) : (keys[at] as Scalar);
    const field = entity.fields.find((one) => one.name === name.split(".").at(-1));
    return ordered(field, value);
  };
  return (a, b) => {
    for (const key of [...(of.sort ?? []), ...names]) {
      const [x, y] = [worthOf(a, key.replace(/^-/, "")), worthOf(b, key.replace(/^-/, ""))];
      if (x === y) continue;
      const isLess = x === null || (y !== null && x < y);
      return isLess === key.startsWith("-") ? 1 : -1;
    }
    return 0;
  };
}

function answered(entity: EntityModel, of: Computation, { keys, rows }: Group): unknown {
  const measures = KINDS.filter((kind) => (of[kind] ?? []).length > 0).map((kind) => [
    kind,
    Object.fromEntries((of[kind] ?? []).map((name) => [name, measured(entity, rows, `${kind}.${name}`)])),
  ]);
  return {
    ...Object.fromEntries((of.group ?? []).map((name, at) => [name, keys[at]])),
    ...(of.count && { count: rows.length }),
    ...Object.fromEntries(measures),
  };
}
