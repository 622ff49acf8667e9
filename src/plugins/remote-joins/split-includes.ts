import type { EntityLike } from "../../entity/index.ts";
import type { IncludeTree, RemoteInclude } from "../../gate/index.ts";
import { getRemoteRelationFields } from "./remote-relations.ts";

/** Relations by name: true, or what to include in their records in turn. */
export type IncludeMap = { readonly [relation: string]: RemoteInclude };

/** What to include: `{ plan: true, author: { team: true } }`, or `["plan", "author.team"]`. */
export type IncludeLike = IncludeMap | IncludeTree | readonly string[];

/**
 * Splits an include into relations that are joined in the database and those that are fetched from services. Names that
 * the entity does not have go to `local`, where looking them up is refused.
 */
export function splitIncludes(
  entity: EntityLike,
  include: IncludeLike | undefined,
): { readonly local: IncludeMap; readonly remote: IncludeMap } {
  const names = new Set(getRemoteRelationFields(entity));
  const all = Object.entries(toIncludeTree(include)).map(([name, inner]) => [name, toMap(inner)] as const);
  return {
    local: Object.fromEntries(all.filter(([name]) => !names.has(name))),
    remote: Object.fromEntries(all.filter(([name]) => names.has(name))),
  };
}

/** Any way to say what to include, as a tree. What is false is left out. */
export function toIncludeTree(include: IncludeLike | undefined): IncludeTree {
  // Without a prototype: a path may come from outside, and "__proto__" is a name like any other.
  const root = emptyNode();
  if (Array.isArray(include)) {
    for (const path of include as readonly string[]) {
      let node = root;
      for (const name of path.split(".")) {
        node[name] ??= emptyNode();
        node = node[name] as Node;
      }
    }
    return root;
  }
  for (const [name, inner] of Object.entries(include ?? {}))
    if (inner !== false) root[name] = toIncludeTree(inner === true ? undefined : inner) as Node;
  return root;
}

interface Node {
  [relation: string]: Node;
}

function emptyNode(): Node {
  return Object.create(null) as Node;
}

function toMap(tree: IncludeTree): RemoteInclude {
  const inner = Object.entries(tree);
  return inner.length === 0 || Object.fromEntries(inner.map(([name, deeper]) => [name, toMap(deeper)]));
}
