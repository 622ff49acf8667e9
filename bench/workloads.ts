import { bulkSize, invoiceCount, postCount, userCount } from "./model.ts";
import { authorIndex, postId, tokenOf, userId } from "./seed.ts";

/** One request to send; `path` starts with a slash. */
export interface LoadRequest {
  readonly method: "GET" | "PATCH" | "POST" | "PUT";
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** What is measured, in the order of the tables. */
export const workloadIds = [
  "get",
  "list",
  "include",
  "create",
  "update",
  "count",
  "listTotal",
  "bulk",
  "export",
  "remote",
] as const;

/** The name of a workload. */
export type WorkloadId = (typeof workloadIds)[number];

/** Workloads that change posts: the table is put back around them. */
export const writes: ReadonlySet<WorkloadId> = new Set(["create", "update", "bulk"]);

/** Workloads whose answers take so long that those which are cut off when the time is up would spoil the figures. */
export const lasting: ReadonlySet<WorkloadId> = new Set(["bulk", "export"]);

/** Connections of a workload, out of those of the run: few ask for everything at once. */
export function connectionsOf(workload: WorkloadId, connections: number): number {
  return workload === "export" ? Math.min(connections, 4) : connections;
}

/** Requests differ, so that no answer can come from a cache of the last one. */
const distinct = 2_048;

/** The page that `list` and `include` ask for: rows 20 to 39 by views, of the published posts up to `views`. */
export const listPath = (views: number): string => `${listTotalPath(views)}&_total=none`;

/** The same page, and how many posts there are on all pages. */
export const listTotalPath = (views: number): string =>
  `/api/posts?published=true&views_lte=${views}&_sort=-views&_start=20&_end=40`;

/** A page of 100 invoices, each with its customer. */
export const remotePath = (start: number): string =>
  `/api/invoices?_sort=number&_start=${start}&_end=${start + 100}&_total=none&include=customer`;

/** Everything, as CSV, in the order of ids. */
export const exportPath = "/api/posts/export?format=csv&_sort=id";

/** Where many posts are changed at once. */
export const bulkPath = "/api/posts/bulk";

/** The question of `count`. */
export const countPath = (author: string): string => `/api/posts/count?published=true&authorId=${author}`;

/** Headers of a request with a JSON body by the given user. */
export const jsonHeaders = (user: number): Record<string, string> => ({
  "content-type": "application/json",
  authorization: `Bearer ${tokenOf(user)}`,
});

// While `bulk` is measured each of them has 100 posts. A multiple of 32, the connections of a run: no two of them change
// the same posts, so nobody waits for a lock.
const bulkOwners = 192;

// 7 and 9973 are coprime with the numbers of rows: neighbours in time are far apart in the tables.
const spread = (index: number, size: number): number => (index * 9973 + 7) % size;

function requestOf(workload: WorkloadId, index: number): LoadRequest {
  const post = spread(index, postCount);
  const views = 1_000 + spread(index, postCount - 1_000);
  const text = `Written in request ${index}. `.padEnd(220, "The keel is laid before the ribs are raised. ");
  switch (workload) {
    case "get":
      return { method: "GET", path: `/api/posts/${postId(post)}` };
    case "list":
      return { method: "GET", path: listPath(views) };
    case "include":
      return { method: "GET", path: `${listPath(views)}&include=author` };
    case "create":
      return {
        method: "POST",
        path: "/api/posts",
        headers: jsonHeaders(index % userCount),
        body: JSON.stringify({ title: `New post ${index}`, body: text, published: index % 2 === 0 }),
      };
    case "update":
      return {
        method: "PUT",
        path: `/api/posts/${postId(post)}`,
        headers: jsonHeaders(authorIndex(post)),
        body: JSON.stringify({ title: `Changed title ${index}`, body: text }),
      };
    case "bulk": {
      const owner = index % bulkOwners;
      const ids = Array.from({ length: bulkSize }, (_, place) => postId(owner * bulkSize + place));
      const body = JSON.stringify({ ids, data: { title: `Changed together in request ${index}` } });
      return { method: "PUT", path: bulkPath, headers: jsonHeaders(owner), body };
    }
    case "listTotal":
      return { method: "GET", path: listTotalPath(views) };
    case "export":
      return { method: "GET", path: exportPath };
    case "remote":
      return { method: "GET", path: remotePath(spread(index, invoiceCount - 100)) };
    case "count":
      return { method: "GET", path: countPath(userId(spread(index, userCount))) };
  }
}

/** The requests of a workload, dealt out to so many connections: each sends other ones. */
export function requestsOf(workload: WorkloadId, connections: number): LoadRequest[][] {
  const dealt: LoadRequest[][] = Array.from({ length: connections }, () => []);
  for (let index = 0; index < distinct; index++) dealt[index % connections]?.push(requestOf(workload, index));
  return dealt;
}
