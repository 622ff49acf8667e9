import type { Dialect } from "./dialect.ts";
import type { Filters, Page } from "./question.ts";

/** A number where it is one, so that a wrong text arrives as a wrong text. */
const numberOf = (text: string): unknown => (Number.isNaN(Number(text)) ? text : Number(text));

function where({ published, authorId, views_lte }: Filters): Record<string, unknown> {
  return {
    ...(published !== undefined && { published: published === "true" }),
    ...(authorId !== undefined && { authorId }),
    ...(views_lte !== undefined && { views: { lte: numberOf(views_lte) } }),
  };
}

const findMany = (filters: Filters, { field, direction, start, end }: Page, include: boolean): object => ({
  where: where(filters),
  orderBy: { [field]: direction },
  skip: start,
  take: end - start,
  ...(include && { include: { author: true } }),
});

const folder = "/api/model/post";

const asking = (operation: string, args: object) =>
  ({ method: "GET", path: `${folder}/${operation}?${new URLSearchParams({ q: JSON.stringify(args) })}` }) as const;

/** A body inside another one; as it is where it cannot be read. */
function within(body: string, wrap: (value: Record<string, unknown>) => unknown): string {
  try {
    return JSON.stringify(wrap(JSON.parse(body) as Record<string, unknown>));
  } catch {
    return body;
  }
}

/**
 * ZenStack's RPC. What is not there is null and no error; who has no token gets 403, or finds nothing that may be changed;
 * a list with a total is two operations in one transaction; an update of many leaves `updatedAt` to whoever asks.
 */
export const zenstack: Dialect = {
  request(question) {
    switch (question.kind) {
      case "get":
        return asking("findUnique", { where: { id: question.id } });
      case "list": {
        const { filters, page, include } = question;
        const args = findMany(filters, page, include);
        if (!page.total) return asking("findMany", args);
        const operations = [
          { model: "post", op: "findMany", args },
          { model: "post", op: "count", args: { where: where(filters) } },
        ];
        return { method: "POST", path: "/api/model/$transaction/sequential", body: JSON.stringify(operations) };
      }
      case "count":
        return asking("count", { where: where(question.filters) });
      case "create":
        return { method: "POST", path: `${folder}/create`, body: within(question.body, (data) => ({ data })) };
      case "update": {
        const { id, body } = question;
        return { method: "PUT", path: `${folder}/update`, body: within(body, (data) => ({ where: { id }, data })) };
      }
      case "bulk": {
        const updatedAt = new Date().toISOString();
        const body = within(question.body, ({ ids, data }) => ({
          where: { id: { in: ids } },
          data: { ...(data as object), updatedAt },
        }));
        return { method: "PUT", path: `${folder}/updateMany`, body };
      }
    }
  },
  told(question, body) {
    const { data } = body as { data: unknown };
    if (question.kind === "count") return { value: { count: data } };
    if (question.kind !== "list" || !question.page.total) return { value: data };
    const [value, total] = data as [unknown, number];
    return { value, total };
  },
  statuses: {
    get: { 404: [200] },
    list: { 400: [422] },
    create: { 400: [400, 422], 401: [403] },
    update: { 400: [422], 401: [404], 403: [404] },
    bulk: { 400: [422], 401: [200] },
  },
};
