import { type Operator, operandOf, SUFFIXES } from "../../../../entity/kinds/operators.ts";
import type { AppDocument, EntityDescription, FieldDescription } from "../../app-document.ts";
import { itemOf, toWire } from "../fields/widget.ts";
import { entityNamed, fieldOf, referredBy } from "../state/app-context.ts";

/** A condition of a list. */
export interface Filter {
  /** A field, or a field of a related record after a dot: `genre.name`. */
  readonly path: string;
  readonly operator: Operator;
  readonly value: string;
}

/** The state of a list, as stored in its link. */
export interface ListState {
  readonly filters: readonly Filter[];
  /** Whether a record must match only one of the filters. */
  readonly isAny: boolean;
  readonly q: string;
  /** `_sort` of the API, such as `-stars`; empty for the API's default order. */
  readonly sort: string;
  readonly columns: readonly string[];
  readonly limit: number;
  /** Cursor of the page; undefined for the first page. */
  readonly after: string | undefined;
  readonly isDeleted: boolean;
  /** Conditions as JSON, from a link that was written by hand. */
  readonly where: string | undefined;
}

/** Parameter for the columns in a link. Except for this and `MATCH`, the parameters are those of the API. */
const COLUMNS = "columns";
const MATCH = "_match";
const SUFFIX = new RegExp(`^(.*)_(${SUFFIXES.join("|")})$`);
const OWN = new Set(["q", "_sort", "_limit", "_after", "_deleted", "_where", COLUMNS, MATCH]);
const MOST_COLUMNS = 6;
/** Maximum number of default columns that refer to other records. */
const MOST_KEYS = 2;

/** The field at a path, also of a related record. */
export function fieldAt(app: AppDocument, entity: EntityDescription, path: string): FieldDescription | undefined {
  const [first = "", second] = path.split(".");
  if (second === undefined) return fieldOf(entity, first);
  const relation = entity.relations.find(({ name }) => name === first);
  const target = entityNamed(app, relation?.target);
  return target && fieldOf(target, second);
}

/** Reads the parameters of a link. Parameters that name no field are left out. */
export function readList(app: AppDocument, entity: EntityDescription, search: URLSearchParams): ListState {
  const filters = [...search]
    .filter(([name]) => !OWN.has(name))
    .flatMap(([name, value]) => {
      const exact = fieldAt(app, entity, name);
      if (exact?.operators?.includes("eq") === true) return [{ path: name, operator: "eq" as const, value }];
      const [, path = "", suffix = ""] = SUFFIX.exec(name) ?? [];
      const operator = fieldAt(app, entity, path)?.operators?.find((one) => one === suffix);
      return operator === undefined ? [] : [{ path, operator, value }];
    });
  const chosen = search
    .get(COLUMNS)
    ?.split(",")
    .filter((name) => isShown(fieldOf(entity, name)));
  const limit = Number(search.get("_limit") ?? app.limits.pageSize);
  return {
    filters,
    isAny: search.get(MATCH) === "any",
    q: search.get("q") ?? "",
    sort: search.get("_sort") ?? "",
    columns: chosen === undefined || chosen.length === 0 ? usualColumns(entity) : chosen,
    limit: Number.isInteger(limit) && limit > 0 ? Math.min(limit, app.limits.maxPageSize) : app.limits.pageSize,
    after: search.get("_after") ?? undefined,
    isDeleted: search.get("_deleted") === "only" && entity.deletedAt !== undefined,
    where: search.get("_where") ?? undefined,
  };
}

/** The parameters of the link to a list; defaults are left out. */
export function writeList(app: AppDocument, entity: EntityDescription, state: ListState): URLSearchParams {
  const search = withoutFilters(state);
  for (const { path, operator, value } of state.filters) if (value !== "") search.append(nameOf(path, operator), value);
  if (state.isAny) search.set(MATCH, "any");
  if (state.where !== undefined) search.set("_where", state.where);
  if (state.sort !== "") search.set("_sort", state.sort);
  if (state.limit !== app.limits.pageSize) search.set("_limit", String(state.limit));
  if (state.columns.join() !== usualColumns(entity).join()) search.set(COLUMNS, state.columns.join());
  if (state.after !== undefined) search.set("_after", state.after);
  return search;
}

/** The conditions of a list as API parameters: for the list, its count, its chart and its export. */
export function conditionsOf(app: AppDocument, entity: EntityDescription, state: ListState): URLSearchParams {
  const search = withoutFilters(state);
  const filters = state.filters.filter(({ value }) => value !== "");
  const isAny = state.isAny && filters.length > 1;
  if (!isAny) for (const { path, operator, value } of filters) search.append(nameOf(path, operator), value);
  const either = isAny ? [{ or: filters.map((filter) => whereOf(app, entity, filter)) }] : [];
  const given = state.where === undefined ? [] : [state.where];
  if (either.length > 0 && given.length > 0) search.set("_where", `{"and":[${JSON.stringify(either[0])},${given[0]}]}`);
  else if (either.length + given.length > 0) search.set("_where", given[0] ?? JSON.stringify(either[0]));
  return search;
}

function withoutFilters({ q, isDeleted }: ListState): URLSearchParams {
  const search = new URLSearchParams();
  if (q !== "") search.set("q", q);
  if (isDeleted) search.set("_deleted", "only");
  return search;
}

function nameOf(path: string, operator: Operator): string {
  return operator === "eq" ? path : `${path}_${operator}`;
}

/** A filter as JSON, for conditions of which one must match. */
function whereOf(app: AppDocument, entity: EntityDescription, { path, operator, value }: Filter): object {
  const field = fieldAt(app, entity, path);
  const wire = (text: string): unknown =>
    field === undefined ? text : toWire({ ...itemOf(field), optional: false }, text);
  const form = operandOf(operator);
  const isList = form === "values" || form === "items";
  const given = form === "truth" ? value === "true" : isList ? value.split(",").map(wire) : wire(value);
  return path.split(".").reduceRight<object>((inner, name) => ({ [name]: inner }), { [operator]: given });
}

/** The query of a page: only the columns, with the titles of related records, and without a count. */
export function pageQuery(app: AppDocument, entity: EntityDescription, state: ListState): URLSearchParams {
  const query = conditionsOf(app, entity, state);
  const { include, select } = shapeOf(app, entity, state.columns);
  query.set("select", select.join());
  if (include !== undefined) query.set("include", include);
  if (state.sort !== "") query.set("_sort", state.sort);
  if (state.after !== undefined) query.set("_after", state.after);
  query.set("_limit", String(state.limit));
  query.set("_total", "none");
  return query;
}

/** The `select` and `include` of a query: the given fields, and the titles of the related records. */
export function shapeOf(app: AppDocument, entity: EntityDescription, names: readonly string[]) {
  const include: Record<string, { readonly select: readonly string[] }> = {};
  for (const name of names) {
    const field = fieldOf(entity, name);
    const target = field && referredBy(app, entity, field);
    if (field?.relation !== undefined && target !== undefined)
      include[field.relation] = { select: target.title === "id" ? ["id"] : ["id", target.title] };
  }
  const select = [...new Set(["id", entity.title, ...names])].filter((name) => isShown(fieldOf(entity, name)));
  return { select, include: Object.keys(include).length === 0 ? undefined : JSON.stringify(include) };
}

function isShown(field: FieldDescription | undefined): field is FieldDescription {
  return field?.read !== undefined;
}

/** The default columns of a list: the title, and fields with short values. */
export function usualColumns(entity: EntityDescription): readonly string[] {
  const kept = new Set(["id", "createdAt", "updatedAt", "version", entity.deletedAt, entity.title]);
  const short = entity.fields.filter(
    (field) => isShown(field) && !kept.has(field.name) && !["text", "json", "bytes"].includes(field.kind ?? ""),
  );
  const keys = short.filter(({ relation }) => relation !== undefined).slice(0, MOST_KEYS);
  const others = short.filter(({ relation }) => relation === undefined).slice(0, MOST_COLUMNS - 1 - keys.length);
  return [
    entity.title,
    ...short.filter((field) => keys.includes(field) || others.includes(field)).map(({ name }) => name),
  ];
}

/** All fields that can be columns. */
export function possibleColumns({ fields }: EntityDescription): readonly FieldDescription[] {
  return fields.filter(isShown);
}

/** The fields that conditions can use: of the entity and of its related records. */
export function filterPaths(app: AppDocument, entity: EntityDescription): readonly string[] {
  const ofEntity = ({ fields }: EntityDescription): string[] =>
    fields.filter(({ operators = [] }) => operators.length > 0).map(({ name }) => name);
  const related = entity.relations
    .filter(({ remote }) => !remote)
    .flatMap(({ name, target: targetName }) => {
      const target = entityNamed(app, targetName);
      return target === undefined ? [] : ofEntity(target).map((field) => `${name}.${field}`);
    });
  return [...ofEntity(entity), ...related];
}
