import type { LoadRequest } from "../workloads.ts";
import type { Dialect } from "./dialect.ts";
import { questionOf } from "./question.ts";

/** A request in the words of a contender, and how its answer reads. */
export interface Said {
  readonly request: LoadRequest;
  /** The statuses that this contender may have for one of Keelson's. */
  statusesOf(plain: number): readonly number[];
  /** The text and headers of a good answer, as Keelson would have answered. */
  read(headers: Headers, text: string): { readonly headers: Headers; readonly text: string };
}

/**
 * Says a request of `workloads.ts` or `check.ts`, which use Keelson's words, in those of a contender.
 * @param dialect absent for contenders that have Keelson's routes
 */
export function sayIn(dialect: Dialect | undefined, plain: LoadRequest): Said {
  if (!dialect)
    return { request: plain, statusesOf: (status) => [status], read: (headers, text) => ({ headers, text }) };
  const question = questionOf(plain);
  const { headers } = plain;
  return {
    request: withHeaders(dialect.request(question), headers),
    statusesOf: (status) => dialect.statuses[question.kind]?.[status] ?? [status],
    read(answered, text) {
      const { value, total } = dialect.told(question, JSON.parse(text));
      const told = new Headers(answered);
      if (total !== undefined) told.set("x-total-count", String(total));
      return { headers: told, text: JSON.stringify(value) };
    },
  };
}

/** A question without a body may need one here. */
function withHeaders(request: LoadRequest, headers: LoadRequest["headers"]): LoadRequest {
  const all = { ...(request.body !== undefined && { "content-type": "application/json" }), ...headers };
  return Object.keys(all).length === 0 ? request : { ...request, headers: all };
}
