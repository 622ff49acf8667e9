import type { Operation, OperationScope, RouteContext } from "../../gate/index.ts";

/** How a request numbers pages, so that links use the same parameters. */
type Style = "page" | "window";

const PAGING = new Set(["_page", "_limit", "_start", "_end", "_after"]);
// Characters that are not allowed between the angle brackets of a Link header (RFC 8288), or in any header.
const UNSAFE = /[^\x21-\x7e]|[<>"\\^`{|}]/u;
const EACH_UNSAFE = new RegExp(UNSAFE, "gu");

/** Headers of a list: the number of records, and links to the neighbouring pages. */
export function listHeaders(context: RouteContext, path: string, operation: Operation): Record<string, string> {
  const headers: Record<string, string> = {};
  if (operation.total !== undefined) headers["x-total-count"] = String(operation.total);
  if (isAtLeast(operation)) headers["x-total-relation"] = "gte";
  if (operation.nextCursor !== undefined) headers["x-next-cursor"] = operation.nextCursor;
  headers.link = pageLinks(context, path, operation);
  return headers;
}

/** Whether an estimated total has reached its limit, so that there may be more records. */
function isAtLeast({ query, total, scope }: Operation): boolean {
  return query.total === "estimated" && total === scope.app.limits.maxOffset;
}

function pageLinks(context: RouteContext, path: string, operation: Operation): string {
  const { query, nextCursor, total, scope } = operation;
  const { limit = scope.app.limits.pageSize, offset = 0, after } = query;
  const { kept, style } = withoutPaging(context.search);
  const base = `${context.root}/${path}?${kept}`;
  const links: string[] = [];
  const add = (rel: string, paging: string): void => {
    links.push(`<${base}${paging}>; rel="${rel}"`);
  };
  const at = (start: number): string => pageAt(style, start, limit);
  const further = (cursor: string): string => `_after=${encodeURIComponent(cursor)}&_limit=${limit}`;

  // The page was cut short by bytes, so only the cursor knows where the next one begins.
  const isCut = nextCursor !== undefined && operation.records.length < limit;
  add("first", after === undefined && !isCut ? at(offset % limit) : `_limit=${limit}`);
  if (after !== undefined || isCut) {
    if (nextCursor !== undefined) add("next", further(nextCursor));
    return links.join(", ");
  }
  if (offset > 0) add("prev", at(Math.max(0, offset - limit)));
  if (total === undefined || isAtLeast(operation) ? nextCursor !== undefined : offset + limit < total) {
    const next = offset + limit;
    if (reachable(next, scope)) add("next", at(next));
    else if (nextCursor !== undefined) add("next", further(nextCursor));
  }
  if (total !== undefined && !isAtLeast(operation)) {
    const last = (offset % limit) + Math.max(0, Math.ceil((total - (offset % limit)) / limit) - 1) * limit;
    if (reachable(last, scope)) add("last", at(last));
  }
  return links.join(", ");
}

function reachable(start: number, scope: OperationScope): boolean {
  return start <= scope.app.limits.maxOffset;
}

function pageAt(style: Style, start: number, limit: number): string {
  return style === "window"
    ? `_start=${start}&_end=${start + limit}`
    : `_page=${Math.floor(start / limit) + 1}&_limit=${limit}`;
}

/** The request's own parameters, unchanged, without those for paging. */
function withoutPaging(search: string): { readonly kept: string; readonly style: Style } {
  let kept = "";
  let style: Style = "page";
  for (let start = 0; start < search.length; ) {
    const ampersand = search.indexOf("&", start);
    const end = ampersand === -1 ? search.length : ampersand;
    const part = search.slice(start, end);
    start = end + 1;
    const name = nameOf(part);
    if (name === "_start" || name === "_end") style = "window";
    if (part !== "" && !PAGING.has(name)) kept += `${part}&`;
  }
  return { kept: UNSAFE.test(kept) ? kept.replace(EACH_UNSAFE, encodeURIComponent) : kept, style };
}

function nameOf(part: string): string {
  const equals = part.indexOf("=");
  const name = equals === -1 ? part : part.slice(0, equals);
  return name.includes("%") ? decodeURIComponent(name) : name;
}
