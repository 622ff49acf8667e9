import { type AnyEntity, type ColumnDefinition, searchColumnOf, stemMark, wordsOf } from "../../entity/index.ts";
import { BadRequestError } from "../../kernel/index.ts";
import { and, type Condition, compare, or, type Where } from "./condition.ts";

/** The operator that finds the words of a searchable field; the gate makes it of `q`. */
export const SEARCH = "search";
/** The key of an order by how well records match a search. */
export const RANK = "_rank";
/** Under which key a record shows where a search found its words, by field. */
export const HIGHLIGHTS = "_highlights";

const MOST_WORDS = 8;

/** Whether an entity has fields whose words are searched. */
export function isSearchable({ columns }: AnyEntity): boolean {
  return Object.values(columns).some(({ role }) => role === "words");
}

/** The words of a search. @throws BadRequestError for too many of them */
export function wordsAsked(text: unknown): readonly string[] {
  if (typeof text !== "string") throw new BadRequestError('"q" takes a text');
  const words = wordsOf(text);
  if (words.length > MOST_WORDS) throw new BadRequestError(`"q" takes at most ${MOST_WORDS} words`);
  return words;
}

/** Fields that a search looks into, as far as a caller may filter on them. */
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
 * The condition of a search: each of its words begins a word of some searchable field. Where an entity has no such field, some
 * text contains what is searched.
 * @param filterable fields that the caller may filter on @default all
 * @throws BadRequestError for too many words
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

/** The column of the words of a field. */
export function wordsColumn({ columns }: AnyEntity, field: string): ColumnDefinition {
  return columns[searchColumnOf(field)] as ColumnDefinition;
}

/** The condition that a field has a word that begins so, or that has the same stem. */
export function hasWord(entity: AnyEntity, { name, field }: ColumnDefinition, word: string): Condition {
  const column = wordsColumn(entity, name);
  const begins = compare(column, "like", ` ${word}`);
  const stem = field?.search?.stem;
  return stem === undefined ? begins : or([begins, compare(column, "like", ` ${stemMark(stem, word)} `)]);
}

/** The same for each of some words. @throws BadRequestError */
export function hasWords(entity: AnyEntity, column: ColumnDefinition, text: unknown): Condition {
  return and(wordsAsked(text).map((word) => hasWord(entity, column, word)));
}

/** Whether records can be ordered by how well they match what a query searches for. */
export function isRanked(
  entity: AnyEntity,
  { search, position }: { readonly search?: string | undefined; readonly position?: unknown },
): boolean {
  return search !== undefined && position === undefined && isSearchable(entity);
}
