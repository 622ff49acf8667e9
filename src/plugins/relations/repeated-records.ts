import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import { type IncludeTree, type Operation, type OperationScope, type Row, shownBytes } from "../../gate/index.ts";

/** A relation that is added to records. */
interface Added {
  readonly operation: Operation;
  readonly records: readonly Row[];
  readonly relation: ResolvedRelation;
  readonly inner: IncludeTree;
}

/**
 * Counts the bytes of related records again for each further record that shows them: their list has counted them once,
 * but the response repeats them.
 * @returns whether they fit into the limit of includes
 * @throws UnavailableError
 */
export function takeRepeated(
  { operation, records, relation, inner }: Added,
  related: (record: Row) => Row | readonly Row[] | null,
): boolean {
  const { scope, bytes } = operation;
  if (bytes === undefined || relation.type === "hasMany" || relation.type === "hasOne") return true;
  const times = new Map<Row, number>();
  for (const record of records) for (const row of rowsOf(related(record))) times.set(row, (times.get(row) ?? 0) + 1);
  let more = 0;
  for (const [row, count] of times)
    if (count > 1) more += (count - 1) * bytesWithRelated(scope, relation.target, row, inner);
  bytes.take([more]);
  return !bytes.isCut;
}

/** The bytes of a record in a response, with its included records. */
function bytesWithRelated(scope: OperationScope, entity: AnyEntity, record: Row, include: IncludeTree): number {
  let bytes = shownBytes(scope, entity, record);
  for (const [name, inner] of Object.entries(include)) {
    const relation = scope.app.model.relation(entity, name);
    if (relation === undefined || relation.remote !== undefined) continue;
    for (const row of rowsOf(record[name])) bytes += bytesWithRelated(scope, relation.target, row, inner);
  }
  return bytes;
}

function rowsOf(related: unknown): readonly Row[] {
  if (Array.isArray(related)) return related;
  return typeof related === "object" && related !== null ? [related as Row] : [];
}
