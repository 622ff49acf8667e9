import { callers } from "../seed.ts";
import type { LoadRequest } from "../workloads.ts";

/** Conditions on posts, as texts: a wrong one has to be refused by the contender. */
export interface Filters {
  readonly published?: string;
  readonly authorId?: string;
  readonly views_lte?: string;
}

/** What a request is about, whatever the words. `body` is the text that is sent, `caller` the id of who sends it. */
export type Question =
  | { readonly kind: "get"; readonly id: string }
  | { readonly kind: "list"; readonly filters: Filters; readonly page: Page; readonly include: boolean }
  | { readonly kind: "count"; readonly filters: Filters }
  | { readonly kind: "create"; readonly body: string }
  | { readonly kind: "update"; readonly id: string; readonly body: string }
  | { readonly kind: "bulk"; readonly body: string; readonly caller?: string };

/** The part of a list that is asked for. */
export interface Page {
  readonly field: string;
  readonly direction: "asc" | "desc";
  readonly start: number;
  readonly end: number;
  /** Whether the answer has to say how many there are on all pages. */
  readonly total: boolean;
}

const folder = "/api/posts";

function pageOf(query: URLSearchParams): Page {
  const sort = query.get("_sort") ?? "id";
  return {
    field: sort.replace(/^-/, ""),
    direction: sort.startsWith("-") ? "desc" : "asc",
    start: Number(query.get("_start")),
    end: Number(query.get("_end")),
    total: query.get("_total") !== "none",
  };
}

function filtersOf(query: URLSearchParams): Filters {
  const names = ["published", "authorId", "views_lte"] as const;
  return Object.fromEntries(names.flatMap((name) => (query.has(name) ? [[name, query.get(name)]] : [])));
}

/**
 * Reads a request that is said in Keelson's words, as `workloads.ts` and `check.ts` do.
 * @throws Error for a request that no dialect has words for: a contender that is sent one has to list its workload in `lacks`
 */
export function questionOf({ method, path, headers, body = "" }: LoadRequest): Question {
  const { pathname, searchParams } = new URL(path, "http://127.0.0.1");
  const rest = pathname.startsWith(folder) ? pathname.slice(folder.length + 1) : undefined;
  switch (`${method} ${rest === "" || rest === "count" || rest === "bulk" ? rest : rest && "id"}`) {
    case "GET ":
      return {
        kind: "list",
        filters: filtersOf(searchParams),
        page: pageOf(searchParams),
        include: searchParams.has("include"),
      };
    case "GET count":
      return { kind: "count", filters: filtersOf(searchParams) };
    case "GET id":
      return { kind: "get", id: rest as string };
    case "POST ":
      return { kind: "create", body };
    case "PUT bulk": {
      const caller = callers.get(headers?.authorization?.replace("Bearer ", "") ?? "");
      return { kind: "bulk", body, ...(caller && { caller: caller.id }) };
    }
    case "PUT id":
      return { kind: "update", id: rest as string, body };
    default:
      throw new Error(`no dialect has words for ${method} ${path}`);
  }
}
