import type { AnyEntity } from "../../entity/index.ts";
import { compare } from "../condition/condition.ts";
import { hasWord, isRanked, RANK, searchedFields, wordsAsked, wordsColumn } from "../condition/search.ts";
import type { FieldMask } from "../operation/mask.ts";
import type { OperationQuery } from "../operation/operation.ts";
import type { SortKey } from "../statement/driver-port.ts";
import type { Ranked } from "../statement/statement.ts";

/**
 * The rank of a record in a search: the field's weight for each word and each field that has it, and twice the weight
 * if it is a whole word. Fields that only some records show do not count.
 */
export function rankOf(entity: AnyEntity, text: string, mask: FieldMask | undefined): readonly Ranked[] {
  const fields = searchedFields(entity, mask?.filterable).filter(
    ({ name }) => mask?.readablePerRow?.has(name) !== true,
  );
  return fields.flatMap((column) => {
    const weight = column.field?.search?.weight ?? 1;
    return wordsAsked(text).flatMap((word) => [
      { where: hasWord(entity, column, word), weight },
      { where: compare(wordsColumn(entity, column.name), "like", ` ${word} `), weight },
    ]);
  });
}

/** The order of a list: by rank if it has a search and no `sort`. */
export function orderOfSearch(entity: AnyEntity, { search, sort }: OperationQuery): readonly SortKey[] | undefined {
  return sort === undefined && isRanked(entity, { search }) ? [{ field: RANK, direction: "desc" }] : sort;
}
