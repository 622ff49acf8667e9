/** Calls as HTTP requests, and CSV in responses. */
import type { BatchItem, Call, Computation, ListQuery } from "./model.ts";

/** Paths, or relations with options as JSON. */
const includeText = (include: NonNullable<ListQuery["include"]>): string =>
  Array.isArray(include) ? include.join(",") : JSON.stringify(include);

export function searchOf(query: ListQuery): string {
  const parameters: [string, string][] = [...((query.filters ?? []) as [string, string][])];
  if (query.where !== undefined) parameters.push(["_where", JSON.stringify(query.where)]);
  if (query.q !== undefined) parameters.push(["q", query.q]);
  if (query.highlight) parameters.push(["_highlight", "true"]);
  if (query.sort) parameters.push(["_sort", query.sort.join(",")]);
  if (query.page) parameters.push(["_page", String(query.page)]);
  if (query.limit) parameters.push(["_limit", String(query.limit)]);
  if (query.include) parameters.push(["include", includeText(query.include)]);
  if (query.select) parameters.push(["select", query.select.join(",")]);
  if (query.deleted) parameters.push(["_deleted", query.deleted]);
  const text = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return text === "" ? "" : `?${text}`;
}

export const isWrite = (call: Call): call is Extract<Call, { do: "create" | "update" }> =>
  call.do === "create" || call.do === "update";

/** An aggregate in query string syntax. */
const computed = (of: Computation): string =>
  [
    ...(["group", "sum", "avg", "min", "max"] as const).flatMap((name) =>
      of[name] ? [[name, of[name].join(",")]] : [],
    ),
    ...(of.count ? [["count", "true"]] : []),
    ...(of.having ? [["having", JSON.stringify(of.having)]] : []),
    ...(of.sort ? [["_sort", of.sort.join(",")]] : []),
    ...(of.limit === undefined ? [] : [["_limit", String(of.limit)]]),
    ...(of.start === undefined ? [] : [["_start", String(of.start)]]),
    ...(of.zone === undefined ? [] : [["_zone", of.zone]]),
  ]
    .map(([name, value]) => `${name}=${encodeURIComponent(value as string)}`)
    .join("&");

/** Method, path and body of a call over HTTP. */
export function requestOf(path: string, call: Call): [string, string, unknown?] {
  const search = "query" in call ? searchOf(call.query) : "";
  const also = isWrite(call) && call.include ? `?include=${call.include.join(",")}` : "";
  const at = "id" in call ? `${path}/${call.id}` : path;

  switch (call.do) {
    case "get":
      return ["GET", `${at}${search}`];
    case "list":
    case "walk":
      return ["GET", `${path}${search}`];
    case "count":
      return ["GET", `${path}/count${search}`];
    case "aggregate":
      return ["GET", `${path}/aggregate${search === "" ? "?" : `${search}&`}${computed(call.of)}`];
    case "exists":
      return ["GET", `${at}/exists`];
    case "export":
      return ["GET", `${path}/export${search === "" ? "?" : `${search}&`}format=${call.format}`];
    case "create":
      return ["POST", `${path}${also}`, call.data];
    case "update":
      return ["PATCH", `${at}${also}`, call.data];
    case "delete":
      return ["DELETE", at];
    case "upsert": {
      const include = call.include ? `&include=${call.include.join(",")}` : "";
      return ["PUT", `${path}?_on=${call.on.join(",")}${include}`, call.data];
    }
    case "batch":
      return ["POST", "/api/batch", call.items.map(itemOf)];
    case "bulkUpdate":
      return ["PUT", `${path}/bulk`, { ids: call.ids, data: call.data }];
    case "bulkDelete":
      return ["DELETE", `${path}/bulk`, { ids: call.ids }];
    case "import":
      return ["POST", `${path}/import`, call.rows];
    case "softDelete":
      return ["DELETE", `${at}/soft`];
    case "toggle":
      return ["POST", `${at}/toggle-flag`];
    default:
      return ["POST", `${at}/${call.do}`];
  }
}

/** An item of a batch, whose path is relative to the API. */
function itemOf({ on, call, ifMatch }: BatchItem): object {
  const [method, url, body] = requestOf(`/${on}s`, call);
  return {
    method,
    path: url,
    ...(body !== undefined && { body }),
    ...(ifMatch && { headers: { "If-Match": ifMatch } }),
  };
}

/** Rows of CSV, as texts. */
export function parseCsv(text: string): Record<string, string>[] {
  // Values of scenarios contain no quotes, commas or line breaks.
  const cells = (line: string): string[] => line.split(",").map((cell) => cell.replace(/^"|"$/g, ""));
  const [head = "", ...lines] = text.split(/\r?\n/).filter((line) => line !== "");
  const names = cells(head);
  return lines.map((line) => Object.fromEntries(cells(line).map((cell, at) => [names[at] as string, cell])));
}
