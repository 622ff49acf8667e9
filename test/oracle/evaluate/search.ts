/** Word search (guides/queries.md, “Search”): what it finds, in which order, and what it highlights. */
import type { EntityModel, FieldModel, ListQuery, Row } from "../model.ts";
import type { Test } from "./filters.ts";
import { filterable, readableReach, showsField, type View } from "./shown.ts";
import { order } from "./sorting.ts";

/** Whether an entity has word search. */
export const isWordwise = (entity: EntityModel): boolean =>
  entity.fields.some(({ searched }) => searched !== undefined);

/** An empty text does not search. */
export const isSearch = ({ q }: ListQuery): boolean => q !== undefined && q !== "";

/** Words in lower case without accents; the texts of scenarios contain no other characters. */
export const wordsIn = (text: string): string[] => [
  ...new Set(
    text
      .toLowerCase()
      .replaceAll("é", "e")
      .split(/[^a-z0-9]+/)
      .filter((word) => word !== ""),
  ),
];

const searched = (view: View, entity: EntityModel): FieldModel[] =>
  entity.fields.filter((field) => field.searched !== undefined && filterable(entity, field, view.by));
const has = (row: Row, { name }: FieldModel, test: (word: string) => boolean): boolean =>
  wordsIn(String(row[name] ?? "")).some(test);

/** Each word is the prefix of a word in some field that the record shows. */
export function wordsTest(view: View, entity: EntityModel, text: string): Test {
  const words = wordsIn(text);
  const fields = searched(view, entity);
  return (row) =>
    words.length > 0 &&
    words.every((word) =>
      fields.some((field) => showsField(view, entity, field, row) && has(row, field, (one) => one.startsWith(word))),
    );
}

/** The weights of the hits, doubled for whole words, in fields that all records show. */
function rankOf(view: View, entity: EntityModel, text: string, row: Row): number {
  const fields = searched(view, entity).filter((field) => readableReach(entity, field, view.by) === "all");
  let rank = 0;
  for (const word of wordsIn(text))
    for (const field of fields) {
      if (has(row, field, (one) => one.startsWith(word))) rank += field.searched as number;
      if (has(row, field, (one) => one === word)) rank += field.searched as number;
    }
  return rank;
}

/** The best match first, unless another order is requested. */
export function rankOrder(view: View, entity: EntityModel, query: ListQuery): (a: Row, b: Row) => number {
  const ranked = (row: Row): Row => ({ ...row, _rank: rankOf(view, entity, query.q as string, row) });
  const byKeys = order(view, entity, query.sort ?? ["-_rank"]);
  return (a, b) => byKeys(ranked(a), ranked(b));
}

/** The positions of the words, in fields that all records show. */
export function highlights(view: View, entity: EntityModel, query: ListQuery, row: Row): Record<string, string> {
  const words = wordsIn(query.q as string);
  const isHit = (token: string): boolean => wordsIn(token).some((part) => words.some((word) => part.startsWith(word)));
  const marked = (text: string): string =>
    text.replace(/[a-z0-9]+/g, (token) => (isHit(token) ? `<mark>${token}</mark>` : token));
  return Object.fromEntries(
    entity.fields
      .filter(({ searched: weight, name }) => weight !== undefined && query.select?.includes(name) !== false)
      .filter((field) => readableReach(entity, field, view.by) === "all")
      .map(({ name }) => [name, String(row[name] ?? "")] as const)
      .filter(([, text]) => isHit(text))
      .map(([name, text]) => [name, marked(text)]),
  );
}
