import type { ResolvedRelation } from "../../entity/index.ts";
import type { FieldMask } from "../operation/mask.ts";

/**
 * Why nothing can be filtered or sorted by a remote relation, and by what it can instead: its records are fetched when
 * the list is there.
 * @returns undefined for other relations, and for callers who may not know of this one
 */
export function explainRemote(relation: ResolvedRelation | undefined, mask: FieldMask): string | undefined {
  const { name, remote, foreignKey } = relation ?? {};
  if (remote === undefined || foreignKey === undefined || !mask.filterable.has(foreignKey)) return undefined;
  return `"${name}" is remote: it is fetched after the query, so nothing can be filtered or sorted by it. "${foreignKey}" can be.`;
}
