import type { RemoteInclude } from "../../../kernel/index.ts";

/** Nested relations as paths: `{ plan: { features: true } }` → `["plan.features"]`. */
export function includePaths(include: RemoteInclude | undefined, prefix = ""): string[] {
  if (include === undefined || typeof include === "boolean") return [];
  return Object.entries(include).flatMap(([name, inner]) => {
    if (inner === false) return [];
    const below = includePaths(inner, `${prefix}${name}.`);
    return below.length === 0 ? [`${prefix}${name}`] : below;
  });
}
