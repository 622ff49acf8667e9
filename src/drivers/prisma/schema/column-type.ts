import type { ColumnType } from "../../../entity/index.ts";

type Scalars = Readonly<Record<ColumnType["scalar"], string>>;

const SQLITE: Scalars = {
  String: "text",
  Int: "integer",
  Float: "real",
  Boolean: "boolean",
  DateTime: "datetime",
  Json: "jsonb",
};

const POSTGRESQL: Scalars = {
  String: "text",
  Int: "integer",
  Float: "double precision",
  Boolean: "boolean",
  DateTime: "timestamp(3)",
  Json: "jsonb",
};

/** What the database calls the type of a column, in small letters (spec 2.2). */
export function columnTypeOf({ scalar, native }: ColumnType, provider: "sqlite" | "postgresql"): string {
  if (provider === "sqlite") return SQLITE[scalar];
  const length = /^VarChar\((\d+)\)$/.exec(native?.postgresql ?? "")?.[1];
  return length === undefined ? POSTGRESQL[scalar] : `varchar(${length})`;
}

function lengthOf(type: string): number | undefined {
  if (type === "text") return Number.POSITIVE_INFINITY;
  const length = /^varchar\((\d+)\)$/.exec(type)?.[1];
  return length === undefined ? undefined : Number(length);
}

/** Whether every value of one type has its like in another: what can change without a loss. */
export function isWidening(from: string, to: string): boolean {
  const [before, after] = [lengthOf(from), lengthOf(to)];
  if (before !== undefined && after !== undefined) return before <= after;
  // Eleven characters hold every one of them.
  if (from === "integer") return to === "real" || to === "double precision" || (after !== undefined && after >= 11);
  return false;
}
