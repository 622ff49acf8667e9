import type { RemoteFetchOptions, RemoteInclude } from "../../../gate/index.ts";
import { DEFAULT_LIMITS, PluginError } from "../../../kernel/index.ts";

/** The default limits of a Keelson server; path and query count together, as on the request line. */
const { urlBytes: MAX_BYTES, parameters: MAX_PARAMETERS, inValues: MAX_IDS } = DEFAULT_LIMITS;

/** Parameters beside the ids: `select`, `include` and `_total`. */
const OTHERS = 3;

/** Where some of the records are. */
export interface ListAddress {
  readonly url: string;
  /** The same records with all their fields; undefined when `url` names no fields. */
  readonly unselected: string | undefined;
}

/**
 * The addresses of lists that have the records with these ids between them, none longer than other servers accept. Ids
 * that no server accepts are left out: the response would be a list without their record.
 * @param resource address of the entity's list, without query
 * @throws PluginError when `select` and `include` leave no room for ids
 */
export function listAddresses(
  resource: string,
  ids: readonly string[],
  { select = [], include }: Pick<RemoteFetchOptions, "select" | "include">,
): ListAddress[] {
  const paths = includePaths(include);
  // The total is not needed.
  const rest = `${paths.length === 0 ? "" : `include=${encodeList(paths)}&`}_total=none`;
  const shape = select.length === 0 ? rest : `select=${encodeList(select)}&${rest}`;
  const room = MAX_BYTES - `${new URL(resource).pathname}?${shape}`.length;
  if (room < MAX_BYTES / 2)
    throw new PluginError("`select` and `include` are too long for an address; ask for fewer fields or relations");
  return groupIds(ids, room).map((pairs) => ({
    url: `${resource}?${pairs}${shape}`,
    unselected: shape === rest ? undefined : `${resource}?${pairs}${rest}`,
  }));
}

function encodeList(names: readonly string[]): string {
  return names.map(encodeURIComponent).join(",");
}

/** `id=a&id=b&`, as often as it takes. */
function groupIds(ids: readonly string[], room: number): string[] {
  const most = Math.min(MAX_IDS, MAX_PARAMETERS - OTHERS);
  const groups: string[] = [];
  let pairs = "";
  let count = 0;
  for (const id of ids) {
    const pair = id.isWellFormed() && !id.includes("\0") ? `id=${encodeURIComponent(id)}&` : "";
    if (pair === "" || pair.length > room) continue;
    if (count === most || pairs.length + pair.length > room) {
      groups.push(pairs);
      pairs = "";
      count = 0;
    }
    pairs += pair;
    count++;
  }
  return count === 0 ? groups : [...groups, pairs];
}

/** Nested relations as paths: `{ plan: { features: true } }` → `["plan.features"]`. */
function includePaths(include: RemoteInclude | undefined, prefix = ""): string[] {
  if (include === undefined || typeof include === "boolean") return [];
  return Object.entries(include).flatMap(([name, inner]) => {
    if (inner === false) return [];
    const below = includePaths(inner, `${prefix}${name}.`);
    return below.length === 0 ? [`${prefix}${name}`] : below;
  });
}
