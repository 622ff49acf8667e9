import { type AnyEntity, type ColumnDefinition, searchColumnOf, stemMark, wordsOf } from "../../entity/index.ts";
import { BadRequestError } from "../../kernel/index.ts";
import { and, type Condition, compare, or, type Where } from "./condition.ts";

/** The operator that finds words in a searchable field; the gate compiles `q` to it. */
export const SEARCH = "search";
/** The sort key for the rank of a search. */
export const RANK = "_rank";
/** The key of a record under which it shows, by field, where a search found its words. */
export const HIGHLIGHTS = "_highlights";

const MOST_WORDS = 8;

/** Whether an entity has `.searchable()` fields. */
export function isSearchable({ columns }: AnyEntity): boolean {
  return Object.values(columns).some(({ role }) => role === "words");
}

/** The words of a search. @throws BadRequestError when there are too many */
export function wordsAsked(text: unknown): readonly string[] {
  if (typeof text !== "string") throw new BadRequestError('"q" takes a text');
  const words = wordsOf(text);
  if (words.length > MOST_WORDS) throw new BadRequestError(`"q" takes at most ${MOST_WORDS} words`);
  return words;
}

/** The fields that a search covers and the caller may filter on. */
export function searchedFields(
  { columns }: AnyEntity,
  filterable: ReadonlySet<string> | undefined,
): readonly ColumnDefinition[] {
  const all = Object.values(columns);
  const ranked = all.filter(({ field }) => field?.search !== undefined);
  const some = ranked.length > 0 ? ranked : all.filter(({ kind }) => kind.searchable);
  return some.filter(({ name, of }) => of === undefined && filterable?.has(name) !== false);
}

/**
 * The condition of a search: each word of the search must start a word of a searchable field. When the entity has no
 * searchable field, a text field must contain the search text.
 * @param filterable fields that the caller may filter on @default all
 * @throws BadRequestError when there are too many words
 */
export function searchWhere(entity: AnyEntity, text: unknown, filterable?: ReadonlySet<string>): Where {
  const columns = searchedFields(entity, filterable);
  const someHas = (test: object): Where => ({ OR: columns.map(({ name }) => ({ [name]: test })) });
  if (!isSearchable(entity)) {
    if (typeof text !== "string") throw new BadRequestError('"q" takes a text');
    return someHas({ like: text });
  }
  const words = wordsAsked(text);
  return words.length === 0 ? { OR: [] } : { AND: words.map((word) => someHas({ [SEARCH]: word })) };
}

/** The column that stores the words of a field. */
export function wordsColumn({ columns }: AnyEntity, field: string): ColumnDefinition {
  return columns[searchColumnOf(field)] as ColumnDefinition;
}

/** Holds when the field has a word that starts with the given word or has the same stem. */
export function hasWord(entity: AnyEntity, { name, field }: ColumnDefinition, word: string): Condition {
  const column = wordsColumn(entity, name);
  const begins = compare(column, "like", ` ${word}`);
  const stem = field?.search?.stem;
  return stem === undefined ? begins : or([begins, compare(column, "like", ` ${stemMark(stem, word)} `)]);
}

/** Like `hasWord`, for every word of a text. @throws BadRequestError */
export function hasWords(entity: AnyEntity, column: ColumnDefinition, text: unknown): Condition {
  return and(wordsAsked(text).map((word) => hasWord(entity, column, word)));
}

/** Whether the records of a query can be ordered by rank. */
export function isRanked(
  entity: AnyEntity,
  { search, position }: { readonly search?: string | undefined; readonly position?: unknown },
): boolean {
  return search !== undefined && position === undefined && isSearchable(entity);
}
