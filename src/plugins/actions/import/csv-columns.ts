import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import type { OperationScope } from "../../../gate/index.ts";
import { BadRequestError, didYouMean, jsonShapeProblem, shownName } from "../../../kernel/index.ts";
import type { CsvRecord } from "./csv-records.ts";
import type { GivenRow } from "./given-row.ts";

/** A cell as a value; undefined when none was given. */
type ReadCell = (cell: string | null, refuse: (message: string) => void) => unknown;

/** A header full of nonsense is not worth a report on every column. */
const MAX_PROBLEMS = 20;
/** What an export puts before text that a spreadsheet would take for a formula. */
const GUARDED = /^'(?='*[=+\-@\t\r\n＝＋－＠])/;

/**
 * Reads rows of cells by the kinds of the fields that a header names. The caller's mask must be final.
 * @param needed columns that must be there
 * @throws BadRequestError for names that are unknown, given twice or missing
 */
export function csvColumns(
  scope: OperationScope,
  entity: AnyEntity,
  header: readonly string[],
  needed: readonly string[],
): (cells: CsvRecord) => GivenRow {
  const known = cellReaders(scope, entity);
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
      const cell = cells[index] ?? null;
      size += cell?.length ?? 0;
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
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const name of header) {
    if (!known.has(name))
      problems.push(`"${shownName(name)}" in the header is not a field.${didYouMean(name, suggested)}`);
    else if (seen.has(name)) problems.push(`"${name}" is in the header twice.`);
    if (problems.length === MAX_PROBLEMS) break;
    seen.add(name);
  }
  if (problems.length > 0) throw new BadRequestError(problems.join(" "));
}

/** By name, for all that the caller may read or write; what of it may be written is for the gate to say. */
function cellReaders(scope: OperationScope, entity: AnyEntity): ReadonlyMap<string, ReadCell> {
  const { jsonDepth } = scope.limits;
  const { readable, writable } = scope.mask(entity);
  const readers = new Map<string, ReadCell>();
  for (const [name, { type }] of Object.entries(entity.relations))
    if (type === "manyToMany") readers.set(`${name}Ids`, (cell, refuse) => readJson(cell ?? "", jsonDepth, refuse));
  for (const column of Object.values(entity.columns)) {
    const { name, role } = column;
    const isShown = scope.principal.kind === "system" || readable.has(name) || writable.has(name);
    if (role !== "blindIndex" && (isShown || role === "id")) readers.set(name, cellReader(column, jsonDepth));
  }
  return readers;
}

function cellReader(column: ColumnDefinition, depth: number): ReadCell {
  const { kind, optional } = column;
  const { scalar } = kind.column;
  const none = optional ? null : undefined;
  const quoted = takesEmptyText(column) ? "" : none;
  return (cell, refuse) => {
    if (cell === null) return none;
    if (cell === "") return quoted;
    if (scalar === "Json") return readJson(cell, depth, refuse);
    const text = scalar === "String" ? cell.replace(GUARDED, "") : cell;
    const read = kind.parse(text);
    return read.ok ? read.value : text; // which validation refuses, together with all else that is wrong
  };
}

/**
 * Some programs put all cells in quotes. So those are texts only where an empty text can be meant: not where no two
 * records could have one.
 */
function takesEmptyText({ kind, field, unique }: ColumnDefinition): boolean {
  return (
    field !== undefined && !unique && kind.column.scalar === "String" && kind.schema(field).safeParse("").data === ""
  );
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
