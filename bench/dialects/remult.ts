import type { Dialect } from "./dialect.ts";
import type { Filters, Page } from "./question.ts";

const byBody = (filters: Filters): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).map(([name, value]) => [name.replace("_lte", ".lte"), value]));

function pageQuery({ field, direction, start, end }: Page): [string, string][] {
  const size = end - start;
  return [
    ["_sort", field],
    ["_order", direction],
    ["_limit", String(size)],
    ["_page", String(start / size + 1)],
  ];
}

/**
 * Remult: lists are GET, with a total POST, since only that one takes the question for it. It answers 403 to whoever has no
 * token. An update of many is refused when one of them may not be changed, so it is asked for the caller's own.
 * A number in place of a text is taken, and becomes one.
 */
export const remult: Dialect = {
  request(question) {
    switch (question.kind) {
      case "get":
        return { method: "GET", path: `/api/post/${question.id}` };
      case "list": {
        const { filters, page, include } = question;
        if (page.total)
          return {
            method: "POST",
            path: `/api/post?${new URLSearchParams([["__action", "query"], ...pageQuery(page)])}`,
            body: JSON.stringify({ aggregate: {}, where: byBody(filters) }),
          };
        if (!include)
          return {
            method: "GET",
            path: `/api/post?${new URLSearchParams([...Object.entries(byBody(filters)), ...pageQuery(page)])}`,
          };
        const query = new URLSearchParams([
          ...Object.entries(filters as Record<string, string>),
          ["_sort", `${page.direction === "desc" ? "-" : ""}${page.field}`],
          ["_start", String(page.start)],
          ["_end", String(page.end)],
        ]);
        return { method: "GET", path: `/api/posts-with-authors?${query}` };
      }
      case "count": {
        const query = new URLSearchParams([["__action", "count"], ...Object.entries(byBody(question.filters))]);
        return { method: "GET", path: `/api/post?${query}` };
      }
      case "create":
        return { method: "POST", path: "/api/post", body: question.body };
      case "update":
        return { method: "PUT", path: `/api/post/${question.id}`, body: question.body };
      case "bulk": {
        const { ids, data } = JSON.parse(question.body) as { ids: string[]; data: unknown };
        const where = { "id.in": ids, ...(question.caller !== undefined && { authorId: question.caller }) };
        return { method: "POST", path: "/api/post?__action=updateMany", body: JSON.stringify({ where, set: data }) };
      }
    }
  },
  told(question, body) {
    if (question.kind === "bulk") return { value: { count: (body as { updated: number }).updated } };
    if (question.kind !== "list" || !question.page.total) return { value: body };
    const { items, aggregates } = body as { items: unknown; aggregates: { $count: number } };
    return { value: items, total: aggregates.$count };
  },
  statuses: {
    create: { 400: [400, 201], 401: [403] },
    update: { 400: [200], 401: [403] },
    bulk: { 400: [200], 401: [403] },
  },
};
