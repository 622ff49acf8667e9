/** Compares responses and stored data with the evaluator's result. */

import { type Outcome, SOME_MOMENT } from "./evaluate/outcome.ts";
import type { World } from "./evaluate/world.ts";
import { library } from "./library.ts";
import type { Data, Model, Row, Scalar, Step } from "./model.ts";
import type { Observed } from "./perform.ts";

/** Deep equality, in which the marker of a datetime matches any text. */
function equal(expected: unknown, got: unknown): boolean {
  if (expected === SOME_MOMENT) return typeof got === "string";
  if (expected === undefined) return true; // the value is not specified
  if (expected === got) return true;
  if (typeof expected !== "object" || typeof got !== "object" || expected === null || got === null) return false;
  if (Array.isArray(expected) !== Array.isArray(got)) return false;
  const [names, others] = [Object.keys(expected), Object.keys(got)];
  return (
    names.length === others.length &&
    names.every((name) =>
      equal(
        (expected as Record<string, unknown>)[name],
        (got as Record<string, unknown>)[name] ?? (name in got ? null : undefined),
      ),
    )
  );
}

const asCell = (value: unknown): string => (value === null || value === undefined ? "" : String(value));

/** CSV has no types, and has a column for each field that some record shows. */
function equalCsv(expected: readonly Record<string, unknown>[], got: readonly Record<string, string>[]): boolean {
  return (
    expected.length === got.length &&
    expected.every((row, at) => {
      const cells = got[at] as Record<string, string>;
      const names = new Set([...Object.keys(row), ...Object.keys(cells)]);
      return [...names].every((name) =>
        row[name] === SOME_MOMENT ? cells[name] !== "" : asCell(row[name]) === (cells[name] ?? ""),
      );
    })
  );
}

/** Whether a step ended in one of its permitted ways. */
export function answers(step: Step, outcome: Outcome, got: Observed): boolean {
  const { call, surface } = step;
  // Workflows respond with the result of their last step: only the status and the stored data are compared.
  if (surface === "steps") return outcome.status < 300 ? got.status < 300 : outcome.status === got.status;
  // A client's result is the same for an upsert that creates and for one that updates.
  const isEither = call.do === "upsert" && surface !== "http" && outcome.status === 201 && got.status === 200;
  if (outcome.status !== got.status && !isEither) return false;
  if (outcome.total !== undefined && outcome.total !== got.total) return false;
  if (outcome.body === undefined || outcome.status >= 400) return true;
  if (call.do === "export" && call.format === "csv")
    return equalCsv(outcome.body as Record<string, unknown>[], got.body as Record<string, string>[]);
  return equal(outcome.body, got.body);
}

/** Values that must only be protected: a hash or a ciphertext is stored. */
async function clear(model: Model, name: string, row: Row): Promise<Row> {
  const entity = model.entities.find((one) => one.name === name);
  const out: Record<string, Scalar> = { id: row.id ?? null };
  for (const [column, value] of Object.entries(row)) {
    const field = entity?.fields.find((one) => one.name === column);
    if (field === undefined && !column.endsWith("Id")) continue;
    if (field?.encrypted && value !== null) out[column] = (await library.decryptValue(String(value))) as Scalar;
    else out[column] = (value as unknown) instanceof Date ? (value as unknown as Date).toISOString() : value;
  }
  return out;
}

function sameRow(model: Model, name: string, expected: Row, got: Row): boolean {
  const entity = model.entities.find((one) => one.name === name);
  return Object.keys({ ...expected, ...got }).every((column) => {
    const field = entity?.fields.find((one) => one.name === column);
    const [wanted, stored] = [expected[column] ?? null, got[column] ?? null];
    if (wanted === null || stored === null) return wanted === stored;
    if (field?.password) return String(stored).startsWith("$pbkdf2$");
    if (field?.kind === "decimal") return Number(wanted) === Number(stored);
    if (field?.kind === "datetime") return wanted === SOME_MOMENT || Date.parse(String(wanted)) === moment(stored);
    return wanted === stored;
  });
}
/** PostgreSQL returns UTC datetimes without a zone. */
const moment = (value: Scalar): number => {
  const text = String(value);
  return Date.parse(/Z|[+-]\d\d:?\d\d$/.test(text) ? text : `${text}Z`);
};

/** Stored rows that were already compared: most of them are the same as the last time. */
const known = new WeakMap<Row, string>();

/** The difference between the world and the stored data; undefined if there is none. */
export async function difference(model: Model, world: World, stored: Data): Promise<string | undefined> {
  for (const { name } of model.entities) {
    const expected = world.rows.get(name) ?? new Map<string, Row>();
    const rows = stored.rows[name] ?? [];
    const found = new Map(rows.map((row) => [row.id as string, row]));
    for (const id of new Set([...expected.keys(), ...found.keys()])) {
      const [wanted, row] = [expected.get(id), found.get(id)];
      if (wanted === undefined) return `${name} ${id} is stored, and should not be: ${JSON.stringify(row)}`;
      if (row === undefined) return `${name} ${id} is not stored: ${JSON.stringify(wanted)}`;
      const text = JSON.stringify(row);
      if (known.get(wanted) === text) continue;
      let plain: Row;
      try {
        plain = await clear(model, name, row);
      } catch {
        return `${name} ${id} has an encrypted field in clear: ${JSON.stringify(row)}`;
      }
      if (!sameRow(model, name, wanted, plain))
        return `${name} ${id} should be ${JSON.stringify(wanted)}, is ${JSON.stringify(plain)}`;
      known.set(wanted, text);
    }
  }
  for (const [at, pairs] of world.pairs) {
    const found = new Set(stored.pairs[at] ?? []);
    for (const pair of new Set([...pairs, ...found]))
      if (pairs.has(pair) !== found.has(pair))
        return `the pair ${at} ${pair} is ${found.has(pair) ? "" : "not "}stored`;
  }
  return undefined;
}
