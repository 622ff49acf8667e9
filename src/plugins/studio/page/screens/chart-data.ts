import type { AppDocument, EntityDescription, FieldDescription } from "../../app-document.ts";
import { widgetOf } from "../fields/widget.ts";
import { call } from "../state/api.ts";
import { fieldOf, pathOf } from "../state/app-context.ts";
import { label, say } from "../words.ts";

/** One bar. */
export interface Bar {
  readonly name: string;
  /** The number as the API returns it: sums of decimals are exact texts. */
  readonly text: string;
  readonly value: number;
}

/** Maximum number of groups that a chart shows; there may be more. */
const MOST_BARS = 60;
const BUCKET = /^(\w+)\((\w+)\)$/;

/** The groups with their computed numbers: by time, or the largest number first. */
export async function loadBars(
  app: AppDocument,
  entity: EntityDescription,
  group: string,
  measure: string,
  conditions: URLSearchParams,
  signal: AbortSignal,
): Promise<readonly Bar[]> {
  const isTime = BUCKET.test(group);
  const [verb = "count", field] = measure.split("=");
  const column = field === undefined ? "count" : `${verb}.${field}`;
  const query = new URLSearchParams(conditions);
  query.set("group", group);
  query.set(verb, field ?? "true");
  query.set("_sort", isTime ? `-${group}` : `-${column}`);
  query.set("_limit", String(MOST_BARS));
  const { data } = await call<readonly Record<string, unknown>[]>(`${pathOf(app, entity, "/aggregate")}?${query}`, {
    signal,
  });
  const names = await titlesOf(
    app,
    entity,
    group,
    data.map((row) => row[group]),
    signal,
  );
  const bars = data.map((row) => {
    const computed = field === undefined ? row.count : (row[verb] as Record<string, unknown> | undefined)?.[field];
    const key = row[group];
    return {
      name: names.get(String(key)) ?? nameOf(group, key),
      text: String(computed ?? 0),
      value: Number(computed ?? 0),
    };
  });
  return isTime ? bars.reverse() : bars;
}

/** Short name of a group: a period by its start; records without a value form a group, too. */
function nameOf(group: string, key: unknown): string {
  if (key === null || key === undefined) return say("none");
  const [, bucket = ""] = BUCKET.exec(group) ?? [];
  const text = String(key);
  if (bucket === "year") return text.slice(0, 4);
  if (bucket === "month") return text.slice(0, 7);
  return bucket === "hour" ? text.slice(0, 16).replace("T", " ") : bucket === "" ? text : text.slice(0, 10);
}

/** Titles of the related records by which a group is formed. */
async function titlesOf(
  app: AppDocument,
  entity: EntityDescription,
  group: string,
  keys: readonly unknown[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const relation = entity.relations.find(({ name }) => name === fieldOf(entity, group)?.relation);
  const target = app.entities.find(({ name }) => name === relation?.target);
  const ids = keys.filter((key) => key !== null).map(String);
  if (target?.rights.list === undefined || target.title === "id" || ids.length === 0) return new Map();
  const query = new URLSearchParams({ select: `id,${target.title}`, _limit: String(MOST_BARS), _total: "none" });
  for (const id of ids) query.append("id", id);
  const { data } = await call<readonly Record<string, unknown>[]>(`${pathOf(app, target)}?${query}`, { signal });
  return new Map(data.map((row) => [String(row.id), String(row[target.title] ?? row.id)]));
}

/** Groups for a chart: fields with short values, keys, and calendar periods of dates. */
export function groupsOf(entity: EntityDescription): readonly string[] {
  return entity.fields.flatMap((field) => {
    if (!isComputable(field) || field.name === "id") return [];
    const widget = widgetOf(field);
    if (widget === "datetime" || widget === "date")
      return ["year", "month", "week", "day"].map((bucket) => `${bucket}(${field.name})`);
    return ["choice", "bool", "text"].includes(widget) ? [field.name] : [];
  });
}

/** Measures for a chart: the count, and sums and averages of numbers. */
export function measuresOf(entity: EntityDescription): readonly string[] {
  const numbers = entity.fields.filter(
    (field) => isComputable(field) && field.name !== "version" && ["number", "exact"].includes(widgetOf(field)),
  );
  return ["count", ...numbers.flatMap(({ name }) => [`sum=${name}`, `avg=${name}`])];
}

function isComputable({ read, operators = [] }: FieldDescription): boolean {
  return read === "all" && operators.includes("eq");
}

/** Readable form of a group or measure, such as `month(createdAt)` or `sum=total`. */
export function chartLabel(entity: EntityDescription, text: string): string {
  const [, bucket, inner] = BUCKET.exec(text) ?? [];
  const relation = fieldOf(entity, text)?.relation;
  if (relation !== undefined) return label(relation);
  if (bucket !== undefined && inner !== undefined) return `${label(inner)}: ${label(bucket).toLowerCase()}`;
  const [verb = "", field] = text.split("=");
  return field === undefined ? label(verb) : `${label(verb)}: ${label(field).toLowerCase()}`;
}
