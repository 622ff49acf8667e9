import type { FieldMask } from "../../../gate/index.ts";
import { BadRequestError, type Limits, type QueryParameters, shownName } from "../../../kernel/index.ts";
import type { QueryTable } from "./query-table.ts";

/** An entity as this caller may ask about it. */
export interface Subject {
  readonly table: QueryTable;
  readonly mask: FieldMask;
}

/** One query string being read for one caller. */
export interface Reading extends Subject {
  readonly parameters: QueryParameters;
  readonly limits: Limits;
  /** Related entities that conditions may look at, by relation name. */
  readonly targets: ReadonlyMap<string, Subject>;
  /** Parameter names with a meaning of their own that this surface takes. */
  readonly controls: ReadonlySet<string>;
  /** Whether this surface takes conditions. */
  readonly filters: boolean;
  readonly problems: QueryProblem[];
}

/** What is wrong with one parameter. */
export interface QueryProblem {
  readonly parameter: string;
  readonly message: string;
}

/** More problems than these in one query are not worth the work of suggesting names. */
const MOST_PROBLEMS = 8;

/** Notes a problem; all are reported together. */
export function addProblem(reading: Reading, parameter: string, message: string): void {
  reading.problems.push({ parameter: shownName(parameter), message });
  if (reading.problems.length >= MOST_PROBLEMS) throwProblems(reading);
}

/** @throws BadRequestError when a problem was noted */
export function throwProblems({ problems }: Reading): void {
  if (problems.length === 0) return;
  throw new BadRequestError(problems.map(({ message }) => message).join(" "), { details: problems });
}

/** The value of a parameter that takes one; undefined when it is absent or empty. */
export function single(reading: Reading, name: string): string | undefined {
  const values = reading.parameters.get(name);
  if (values === undefined || !reading.controls.has(name)) return undefined;
  if (values.length > 1) addProblem(reading, name, `"${name}" is given more than once.`);
  return values[0] === "" ? undefined : values[0];
}

/** The items of a comma-separated parameter, in order; may be given more than once. */
export function items(reading: Reading, name: string): readonly string[] {
  if (!reading.controls.has(name)) return [];
  const values = reading.parameters.get(name) ?? [];
  return values.flatMap((value) => value.split(",").map((item) => item.trim())).filter((item) => item !== "");
}
