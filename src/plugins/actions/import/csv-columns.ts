import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import {
  BadRequestError,
  didYouMean,
  jsonShapeProblem,
  type OperationScope,
  shownName,
} from "../../../kernel/index.ts";
import type { GivenRow } from "./given-row.ts";

/** A cell as a value; undefined when none was given. */
type ReadCell = (text: string, refuse: (message: string) => void) => unknown;

/** What an export puts before text that a spreadsheet would take for a formula. */
const GUARDED = /^'(?='*[=+\-@\t\r])/;

/**
 * Reads rows of cells by the kinds of the fields that a header names.
 * @param needed columns that must be there
 * @throws BadRequestError for names that are unknown, given twice or missing
 */
export function csvColumns(
  scope: OperationScope,
  entity: AnyEntity,
  header: readonly string[],
  needed: readonly string[],
): (cells: readonly string[]) => GivenRow {
  const known = cellReaders(entity, scope.limits.jsonDepth);
  checkHeader(header, known, [...scope.mask(entity).writable]);
  const missing = needed.find((name) => !header.includes(name));
  if (missing !== undefined) throw new BadRequestError(`The header has no "${missing}", which tells records apart`);
  const readers = header.map((name) => [name, known.get(name) as ReadCell] as const);
  return (cells) => {
    const data: Record<string, unknown> = {};
    const errors: Record<string, string> = {};
    if (cells.length !== header.length) errors._ = `has ${cells.length} cells, and the header has ${header.length}`;
    let size = 0;
    for (const [index, [name, read]] of readers.entries()) {
      const cell = cells[index] ?? "";
      size += cell.length;
      const value = read(cell, (message) => (errors[name] = message));
      if (value !== undefined) data[name] = value;
    }
    return { data, size, ...(Object.keys(errors).length === 0 ? {} : { errors }) };
  };
}

function checkHeader(
  header: readonly string[],
  known: ReadonlyMap<string, unknown>,
  suggested: readonly string[],
): void {
  const problems = header.flatMap((name, index) => {
    if (!known.has(name)) return [`"${shownName(name)}" in the header is not a field.${didYouMean(name, suggested)}`];
    return header.indexOf(name) === index ? [] : [`"${name}" is in the header twice.`];
  });
  if (problems.length > 0) throw new BadRequestError(problems.slice(0, 20).join(" "));
}

/** By name, for all that a create takes; whether this caller may write it is for the gate to say. */
function cellReaders(entity: AnyEntity, depth: number): ReadonlyMap<string, ReadCell> {
  const readers = new Map<string, ReadCell>();
  for (const [name, { type }] of Object.entries(entity.relations))
    if (type === "manyToMany") readers.set(`${name}Ids`, (text, refuse) => readJson(text, depth, refuse));
  for (const column of Object.values(entity.columns))
    if (column.role !== "blindIndex") readers.set(column.name, cellReader(column, depth));
  return readers;
}

function cellReader({ kind, optional }: ColumnDefinition, depth: number): ReadCell {
  const { scalar } = kind.column;
  return (cell, refuse) => {
    if (cell === "") return optional ? null : undefined;
    if (scalar === "Json") return readJson(cell, depth, refuse);
    const text = scalar === "String" ? cell.replace(GUARDED, "") : cell;
    const read = kind.parse(text);
    return read.ok ? read.value : text; // which validation refuses, together with all else that is wrong
  };
}

function readJson(text: string, depth: number, refuse: (message: string) => void): unknown {
  if (text === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const problem = jsonShapeProblem(value, depth);
    if (problem !== undefined) refuse(problem);
    return value;
  } catch {
    refuse("must be JSON");
    return undefined;
  }
}
