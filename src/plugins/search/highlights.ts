import { type Stem, stemMark, wordsOf } from "../../entity/index.ts";
import { HIGHLIGHTS, isSearchable, type Operation } from "../../gate/index.ts";
import { escapeHtml } from "../../kernel/index.ts";

/** Characters of an excerpt, and of its part before the first hit. */
const EXCERPT = 200;
const BEFORE = 60;
/** The most characters of a value that are searched for hits. */
const LOOKED_THROUGH = 2_000;
const ASCII = /^[\x20-\x7e]+$/;
const TOKEN = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * Adds highlighted excerpts of the selected fields in which a search found its words: HTML with `<mark>`. Only for
 * fields that all records show.
 */
export function addHighlights({ entity, query, records, scope }: Operation): void {
  const { search, highlight, select } = query;
  if (!highlight || search === undefined || !isSearchable(entity)) return;
  const words = wordsOf(search);
  const { readable, readablePerRow } = scope.access.mask(entity);
  const isHidden = (name: string): boolean =>
    scope.principal.kind !== "system" && (!readable.has(name) || readablePerRow?.has(name) === true);
  const names = (select ?? Object.keys(entity.fields)).filter(
    (name) => entity.fields[name]?.search !== undefined && !isHidden(name),
  );
  for (const record of records) {
    const found = names.flatMap((name) => {
      const value = record[name];
      const excerpt =
        typeof value === "string" ? excerptOf(value, words, entity.fields[name]?.search?.stem) : undefined;
      return excerpt === undefined ? [] : [[name, excerpt] as const];
    });
    record[HIGHLIGHTS] = Object.fromEntries(found);
  }
}

function excerptOf(text: string, words: readonly string[], stem: Stem | undefined): string | undefined {
  const stems = new Set(stem === undefined ? [] : words.map((word) => stemMark(stem, word)));
  const isHit = (token: string): boolean => {
    const parts = ASCII.test(token) ? [token.toLowerCase()] : wordsOf(token);
    return parts.some(
      (part) => words.some((word) => part.startsWith(word)) || (stem !== undefined && stems.has(stemMark(stem, part))),
    );
  };
  let html: string | undefined;
  let end = 0;
  let last = 0;
  for (const { 0: token, index } of text.slice(0, LOOKED_THROUGH).matchAll(TOKEN)) {
    if (html !== undefined && index + token.length > end) break;
    if (!isHit(token)) continue;
    if (html === undefined) {
      const start = index <= BEFORE ? 0 : text.indexOf(" ", index - BEFORE) + 1 || index;
      last = Math.min(start, index);
      end = last + EXCERPT;
      html = last > 0 ? "…" : "";
    }
    html += `${escapeHtml(text.slice(last, index))}<mark>${escapeHtml(token)}</mark>`;
    last = index + token.length;
  }
  if (html === undefined) return undefined;
  const rest = text.slice(last, Math.max(end, last));
  return `${html}${escapeHtml(rest.isWellFormed() ? rest : rest.slice(0, -1))}${end < text.length ? "…" : ""}`;
}
