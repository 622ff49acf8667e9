import type { Dialect } from "./dialect.ts";
import type { Filters, Question } from "./question.ts";

interface PayloadUser {
  readonly id: string;
  /** The name of its collection, which records of users have, too. */
  readonly collection: string;
}

interface PayloadPost {
  readonly author: string | PayloadUser;
}

function filters({ published, authorId, views_lte }: Filters): [string, string][] {
  const named = { "where[published][equals]": published, "where[author][equals]": authorId };
  return [...Object.entries(named), ["where[views][less_than_equal]", views_lte] as const].flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
}

function listPath({ filters: conditions, page, include }: Question & { kind: "list" }): string {
  const size = page.end - page.start;
  const query = new URLSearchParams([
    ...filters(conditions),
    ["sort", `${page.direction === "desc" ? "-" : ""}${page.field}`],
    ["limit", String(size)],
    ["page", String(page.start / size + 1)],
    ["depth", include ? "1" : "0"],
    ...(page.total ? [] : [["pagination", "false"]]),
  ]);
  return `/api/post?${query}`;
}

/** A relation is an id, or the record where the request asks for depth; it has one name for both. */
function postOf({ author, ...post }: PayloadPost): object {
  if (typeof author === "string") return { ...post, authorId: author };
  const { collection: _, ...user } = author;
  return { ...post, authorId: user.id, author: user };
}

/**
 * Payload: changes are patches, and answered together with a message. Who may not do something gets 403, whether they have
 * a token or not and whether the post is there or not. A number that is none finds nothing.
 */
export const payload: Dialect = {
  request(question) {
    switch (question.kind) {
      case "get":
        return { method: "GET", path: `/api/post/${question.id}?depth=0` };
      case "list":
        return { method: "GET", path: listPath(question) };
      case "count":
        return { method: "GET", path: `/api/post/count?${new URLSearchParams(filters(question.filters))}` };
      case "create":
        return { method: "POST", path: "/api/post?depth=0", body: question.body };
      case "update":
        return { method: "PATCH", path: `/api/post/${question.id}?depth=0`, body: question.body };
      case "bulk": {
        const { ids, data } = JSON.parse(question.body) as { ids: string[]; data: unknown };
        const query = new URLSearchParams({ "where[id][in]": ids.join(","), depth: "0" });
        return { method: "PATCH", path: `/api/post?${query}`, body: JSON.stringify(data) };
      }
    }
  },
  told(question, body) {
    switch (question.kind) {
      case "get":
        return { value: postOf(body as PayloadPost) };
      case "list": {
        const { docs, totalDocs } = body as { docs: PayloadPost[]; totalDocs: number };
        return { value: docs.map(postOf), ...(question.page.total && { total: totalDocs }) };
      }
      case "count":
        return { value: { count: (body as { totalDocs: number }).totalDocs } };
      case "create":
      case "update":
        return { value: postOf((body as { doc: PayloadPost }).doc) };
      case "bulk":
        return { value: { count: (body as { docs: unknown[] }).docs.length } };
    }
  },
  statuses: {
    list: { 400: [200] },
    create: { 401: [403] },
    update: { 401: [403], 404: [403] },
    bulk: { 401: [403] },
  },
};
