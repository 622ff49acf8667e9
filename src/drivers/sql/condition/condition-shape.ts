import { type ColumnDefinition, idParts, type Provider } from "../../../entity/index.ts";
import { ALWAYS, type Compare, type Condition, isAlways, type Related } from "../../../gate/index.ts";
import { pathShape } from "./build-path.ts";
import { codecOf, jsonOfItems, listForm, listValues } from "./column-codec.ts";
import { patternOf } from "./patterns.ts";

/** The condition of a relation; `ALWAYS` if every related record meets it, independent of its values. */
export function askedOfRelated({ matches }: Related): Condition {
  return isAlways(matches) ? ALWAYS : matches;
}

/** Whether a condition selects its rows by id. */
export function namesRows(condition: Condition): boolean {
  if (condition.op === "and") return condition.of.some(namesRows);
  return condition.op === "compare" && condition.column.role === "id" && ["eq", "in"].includes(condition.test);
}

/**
 * Splits a condition into its shape, which all conditions with the same statement share, and its values.
 * @param values receives the values, in the order in which `buildCondition` requests slots
 * @param row a row that is not stored yet, with the keys of the condition's relations @default rows of a table
 * @returns the same text for all conditions that differ in values only; names do not contain the characters it uses
 */
export function conditionShape(
  condition: Condition,
  provider: Provider,
  values: unknown[],
  row?: Readonly<Record<string, unknown>>,
): string {
  switch (condition.op) {
    case "and":
    case "or": {
      let shape = condition.op === "and" ? "&(" : "|(";
      for (const part of condition.of) shape += conditionShape(part, provider, values, row);
      return `${shape})`;
    }
    case "not":
      return `!${conditionShape(condition.of, provider, values, row)}`;
    case "related": {
      const { relation } = condition;
      if (row !== undefined) values.push(row[relation.foreignKey as string]);
      return `${relation.name}:(${conditionShape(askedOfRelated(condition), provider, values)})`;
    }
    case "compare":
      return compareShape(condition, provider, values);
    default:
      return condition.op === "always" ? "1," : "0,";
  }
}

function compareShape(condition: Compare, provider: Provider, values: unknown[]): string {
  const { column, test, value, record } = condition;
  const start = `${column.name}.${test}`;
  if (column.path !== undefined) return pathShape(condition, column.path, provider, values);
  if (value === null) return `${column.name}?,`;
  if (column.parts !== undefined) return partsShape(condition, provider, values);
  if (test === "in") {
    const list = value as readonly unknown[];
    const form = listForm(provider, column, list.length);
    for (const one of listValues(provider, column, list, form)) values.push(one);
    return `${start}${form},`;
  }
  if (test === "isEmpty") return `${start},`;
  if (test === "hasAny" || test === "hasAll") {
    values.push(provider === "postgresql" ? codecOf(provider, column).encode(value) : jsonOfItems(column.kind, value));
    return `${start},`;
  }
  if (value !== undefined) values.push(patternOf(condition, provider) ?? codecOf(provider, column).encode(value));
  else if (record !== undefined) return `${start}=${conditionShape(record.where, provider, values)},`;
  return record === undefined ? `${start},` : `${start}@${conditionShape(record.where, provider, values)},`;
}

/** The shape of a comparison of a composite id: the values of each id in turn. */
function partsShape({ column, test, value }: Compare, provider: Provider, values: unknown[]): string {
  const { parts = [] } = column;
  const ids = (test === "in" ? value : [value]) as readonly string[];
  for (const id of ids)
    idParts(parts, id)?.forEach((part, index) => {
      values.push(codecOf(provider, parts[index] as ColumnDefinition).encode(part));
    });
  return `${column.name}.${test}${ids.length},`;
}
