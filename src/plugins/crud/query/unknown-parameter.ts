import { didYouMean, explainRemote, nearest, shownName } from "../../../kernel/index.ts";
import { SUFFIXES } from "./query-table.ts";
import type { Reading, Subject } from "./reading.ts";

const OPERATOR_NAMES: ReadonlySet<string> = new Set(SUFFIXES);

/**
 * The one sentence for a parameter that means nothing to this caller. A field that exists but may not be read gets the
 * same one, and only names the caller may use are suggested (security.md item 3).
 */
export function unknownParameter(reading: Reading, name: string): string {
  const relation = reading.filters ? reading.table.relations.get(name.split(".", 1)[0] as string) : undefined;
  const remote = explainRemote(relation, reading.mask);
  return remote ?? `Unknown parameter "${shownName(name)}".${suggestion(reading, name)}`;
}

function suggestion(reading: Reading, name: string): string {
  if (!reading.filters) return didYouMean(name, reading.controls);
  const dot = name.indexOf(".");
  if (dot === -1) return fieldSuggestion(reading, name, "", reading.controls);
  const relation = name.slice(0, dot);
  const target = reading.targets.get(relation);
  if (target !== undefined) return fieldSuggestion(target, name.slice(dot + 1), `${relation}.`, []);
  const near = nearest(relation, reading.targets.keys());
  return near === undefined ? "" : ` Did you mean "${near}${shownName(name.slice(dot))}"?`;
}

function fieldSuggestion({ table, mask }: Subject, name: string, prefix: string, others: Iterable<string>): string {
  const cut = name.lastIndexOf("_");
  const base = name.slice(0, cut);
  const suffix = name.slice(cut + 1);
  if (cut > 0 && mask.filterable.has(base)) {
    const operators = [...(table.entity.columns[base]?.kind.operators ?? [])].filter((operator) => operator !== "eq");
    const near = nearest(suffix, operators);
    if (near !== undefined) return ` Did you mean "${prefix}${base}_${near}"?`;
    return ` Operators on "${prefix}${base}" are ${operators.map((operator) => `_${operator}`).join(" ")}.`;
  }
  if (cut > 0 && OPERATOR_NAMES.has(suffix)) {
    const near = nearest(base, mask.filterable);
    if (near !== undefined) return ` Did you mean "${prefix}${near}_${suffix}"?`;
  }
  const near = nearest(name, [...mask.filterable, ...others]);
  return near === undefined ? "" : ` Did you mean "${prefix}${near}"?`;
}
