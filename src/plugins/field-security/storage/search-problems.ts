import type { EntityModel } from "../../../entity/index.ts";

/** A sentence for every field whose values have no blind index. */
export function searchProblems(model: EntityModel): string[] {
  return model.entities.flatMap(({ name, fields }) =>
    Object.entries(fields)
      .filter(([, { kind, encrypted }]) => encrypted?.searchable && !kind.operators.has("eq"))
      .map(([field]) => `${name}.${field}: such values cannot be compared; leave { searchable: true } out`),
  );
}
