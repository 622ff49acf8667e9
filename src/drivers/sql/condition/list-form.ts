import type { ColumnDefinition, Provider } from "../../../entity/index.ts";
import { codecOf } from "./column-codec.ts";

/** How a list is written in a statement: as one parameter, or as this many. */
export type ListForm = "array" | "json" | number;

/** Longer lists travel as JSON where that can be exact enough: no database takes any number of parameters. */
const MAX_PARAMETERS = 8_192;

/**
 * One parameter where the database can take a list from it, because then one statement serves lists of any length.
 * Elsewhere the number of parameters is a power of two, the last value repeated, so that there are few statements.
 */
export function listForm(provider: Provider, { kind }: ColumnDefinition, length: number): ListForm {
  if (provider === "postgresql") return "array";
  const { scalar } = kind.column;
  // Text and whole numbers are the same in JSON; moments are written as the adapter is set to, and decimals are rounded.
  if (provider === "sqlite" && (scalar === "String" || scalar === "Int")) return "json";
  const isLong = length > MAX_PARAMETERS && (provider === "sqlite" || scalar === "String");
  return isLong ? "json" : 2 ** Math.ceil(Math.log2(length));
}

/** The values of a list as they travel in a form, one per parameter. */
export function listValues(
  provider: Provider,
  column: ColumnDefinition,
  values: readonly unknown[],
  form: ListForm,
): unknown[] {
  const { encode } = codecOf(provider, column);
  const encoded = values.map(encode);
  if (form === "array") return [encoded];
  if (form === "json") return [JSON.stringify(encoded.map(jsonMember))];
  const last = encoded.at(-1);
  while (encoded.length < form) encoded.push(last);
  return encoded;
}

/** As Prisma's adapters keep moments in SQLite. */
function jsonMember(value: unknown): unknown {
  return value instanceof Date ? value.toISOString().replace("Z", "+00:00") : value;
}
