import type { Dialect } from "./dialect.ts";
import type { Filters, Question } from "./question.ts";

interface FeathersPage {
  readonly total: number;
  readonly data: readonly unknown[];
}

function filters({ published, authorId, views_lte }: Filters): [string, string][] {
  return [
    ...(published === undefined ? [] : ([["published", published]] as [string, string][])),
    ...(authorId === undefined ? [] : ([["authorId", authorId]] as [string, string][])),
    ...(views_lte === undefined ? [] : ([["views[$lte]", views_lte]] as [string, string][])),
  ];
}

function listPath({ filters: conditions, page, include }: Question & { kind: "list" }): string {
  const query = new URLSearchParams([
    ...filters(conditions),
    [`$sort[${page.field}]`, page.direction === "asc" ? "1" : "-1"],
    ["$skip", String(page.start)],
    ["$limit", String(page.end - page.start)],
    ...(include ? [["include", "author"]] : []),
  ]);
  return `${page.total ? "/posts" : "/uncounted-posts"}?${query}`;
}

/**
 * Feathers: changes are patches; a post of somebody else is not found, since the author is part of the query. Its app
 * answers 500 to a body that is not JSON.
 */
export const feathers: Dialect = {
  request(question) {
    switch (question.kind) {
      case "get":
        return { method: "GET", path: `/posts/${question.id}` };
      case "list":
        return { method: "GET", path: listPath(question) };
      case "count":
        return {
          method: "GET",
          path: `/posts?${new URLSearchParams([...filters(question.filters), ["$limit", "0"]])}`,
        };
      case "create":
        return { method: "POST", path: "/posts", body: question.body };
      case "update":
        return { method: "PATCH", path: `/posts/${question.id}`, body: question.body };
      case "bulk": {
        const { ids, data } = JSON.parse(question.body) as { ids: string[]; data: unknown };
        const query = new URLSearchParams(ids.map((id) => ["id[$in][]", id]));
        return { method: "PATCH", path: `/posts?${query}`, body: JSON.stringify(data) };
      }
    }
  },
  told(question, body) {
    if (question.kind === "count") return { value: { count: (body as FeathersPage).total } };
    if (question.kind === "bulk") return { value: { count: (body as unknown[]).length } };
    if (question.kind !== "list" || !question.page.total) return { value: body };
    const { total, data } = body as FeathersPage;
    return { value: data, total };
  },
  statuses: { create: { 400: [400, 500] }, update: { 403: [404] } },
};
