import type { AnyEntity } from "../../../entity/index.ts";
import { columnProblem } from "./column-problem.ts";

const DEFAULT = "deletedAt";

/** The field that holds the time of a soft deletion. */
export function deletionField({ softDelete }: AnyEntity, given: string | undefined): string {
  return given ?? softDelete?.field ?? DEFAULT;
}

/** What is wrong with it, as the end of a sentence; undefined when nothing is. */
export function deletionProblem(entity: AnyEntity, given: string | undefined): string | undefined {
  const { softDelete } = entity;
  const field = deletionField(entity, given);
  if (softDelete !== undefined && softDelete.field !== field)
    return `works on "${field}", but records are deleted by "${softDelete.field}", as .softDelete() says`;
  return columnProblem(entity, field, { kind: "datetime", optional: true });
}
