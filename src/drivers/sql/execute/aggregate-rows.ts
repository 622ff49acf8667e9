import type { ColumnDefinition, Provider } from "../../../entity/index.ts";
import {
  type Aggregate,
  assertGroups,
  bucketOf,
  type Execute,
  Fold,
  foldRecords,
  type GroupKey,
  type Measure,
  MOST_GROUPS,
  noSum,
  type Part,
  type Row,
  resultOf,
  toUnits,
} from "../../../gate/index.ts";
import { codecOf } from "../condition/column-codec.ts";
import { aggregateQuery, type Extent, extentOf } from "../statement/aggregate-query.ts";
import type { SqlConnection, SqlSession } from "../statement/sql-connection.ts";
import { isScaled } from "../tables/column-type.ts";

/** Computes groups, as far as possible in the database. */
export async function aggregateRows(session: SqlSession, execute: Execute, given: Aggregate): Promise<Row[]> {
  const open = session.connection();
  const entity = open.entityOf(given.entity);
  const aggregate: Aggregate = { ...given, entity };
  const { provider } = open.dialect;
  const { groups, measures } = aggregate;
  if (aggregate.limit === 0) return [];
  if (!canCompute(provider, aggregate)) return foldRecords(execute, aggregate);
  const extent = extentOf(provider, aggregate);
  const query = aggregateQuery(open, aggregate, extent, MOST_GROUPS + 1);
  const { rows } = await session.read({ model: entity.name, operation: "aggregate" }, (client) =>
    client.queryRaw(query),
  );
  const keys = groups.map((key) => keyReader(open, key, extent, aggregate.zone));
  const parts = measures.map((measure) => partReader(open, measure));
  const read = (row: readonly unknown[]): [unknown[], Part[]] => [
    keys.map((key, index) => key(row[index])),
    parts.map((part, index) => part(row[groups.length + index * 2], row[groups.length + index * 2 + 1])),
  ];
  if (extent === "all") return rows.map((row) => rowOf(aggregate, ...read(row)));
  assertGroups(rows.length);
  const fold = new Fold(aggregate);
  for (const row of rows) fold.part(...read(row));
  return fold.rows();
}

/**
 * Whether the database can compute the aggregate: not for decimals stored as texts or doubles, nor for composite ids,
 * which are not a column.
 */
function canCompute(provider: Provider, { groups, measures }: Aggregate): boolean {
  const all = [...groups, ...measures].flatMap(({ column }) => (column === undefined ? [] : [column]));
  if (all.some(({ parts }) => parts !== undefined)) return false;
  if (provider === "postgresql") return true;
  return measures.every(
    ({ of, column }) =>
      column === undefined ||
      column.kind.column.scalar !== "Decimal" ||
      of === "min" ||
      of === "max" ||
      (provider === "mysql"
        ? column.kind.column.precision !== undefined
        : isScaled(column.kind.column) && column.existing !== true),
  );
}

type Reader = (value: unknown) => unknown;

function valueReader({ dialect, moments }: SqlConnection, column: ColumnDefinition): Reader {
  if (column.kind.column.scalar === "DateTime") return moments.read;
  return codecOf(dialect.provider, column).decode ?? ((value) => value);
}

function keyReader(
  open: SqlConnection,
  { column, bucket }: GroupKey,
  extent: Extent,
  zone: string | undefined,
): Reader {
  const read = valueReader(open, column);
  if (bucket === undefined) return (value) => (value === null ? null : read(value));
  const isLocal = extent === "quarters" && column.kind.column.scalar === "DateTime";
  return (value) => (isLocal && value !== null ? bucketOf(new Date(`${value as string}Z`), bucket, zone) : value);
}

function partReader(open: SqlConnection, { of, column }: Measure): (value: unknown, count: unknown) => Part {
  if (column === undefined) return (_, count) => ({ count: Number(count), sum: 0, extreme: undefined });
  const { words } = column.kind.column;
  // Enum values are returned as their positions.
  const read = words === undefined ? valueReader(open, column) : (place: unknown) => words[Number(place)] ?? null;
  const isExtreme = of === "min" || of === "max";
  const sum = sumReader(open.dialect.provider, column);
  return (value, count) => ({
    count: Number(count),
    sum: value === null || isExtreme ? noSum(column) : sum(value),
    extreme: value === null || !isExtreme ? undefined : read(value),
  });
}

/** Reads sums of decimals in units of their last digit. SQLite returns both halves of a sum separately. */
function sumReader(provider: Provider, column: ColumnDefinition): (value: unknown) => number | bigint {
  const { scalar } = column.kind.column;
  if (scalar !== "BigInt" && scalar !== "Decimal") return Number;
  if (provider === "sqlite")
    return (value) => {
      const [upper = "0", lower = "0"] = String(value).split(" ");
      return (BigInt(upper) << 32n) + BigInt(lower);
    };
  if (scalar === "BigInt") return (value) => BigInt(String(value).split(".", 1)[0] as string);
  return (value) => toUnits(column, value);
}

function rowOf({ groups, measures }: Aggregate, keys: readonly unknown[], parts: readonly Part[]): Row {
  const row: Row = {};
  for (const [index, { name }] of groups.entries()) row[name] = keys[index];
  for (const [index, measure] of measures.entries()) row[measure.name] = resultOf(measure, parts[index] as Part);
  return row;
}
