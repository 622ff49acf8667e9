import type { SqlQueryable } from "@prisma/driver-adapter-utils";
import type { ColumnDefinition } from "../../../entity/index.ts";
import { type Condition, type Row, visitCondition } from "../../../gate/index.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import type { EntityPlan } from "../session/entity-plan.ts";
import { rowsOf, type Selection } from "../statement/select-query.ts";
import type { SqlConnection } from "../statement/sql-connection.ts";
import type { NamedQuery, Statement } from "../statement/sql-statement.ts";
import { changedBy, type Encoded, insertStatement, updateStatement } from "../statement/write-queries.ts";
import { updatesStatement } from "./updates-statement.ts";
import type { WriteKind, WriteValues } from "./write-together.ts";

/** The database whose writes return their rows, and can leave out rows that another transaction has locked. */
const WRITES_TOGETHER = "postgresql";
/** Records of one INSERT of single records; each number of them is a statement of its own. */
const MOST_INSERTS = 8;
/** Records of one UPDATE; their number is filled up to a power of two. */
const MOST_UPDATES = 64;

async function rows(selection: Selection, client: SqlQueryable, query: NamedQuery): Promise<Row[]> {
  return rowsOf(selection, await client.queryRaw(query));
}

/**
 * How new records with values for these columns are stored together; undefined where each is stored on its own, as where
 * it may wait for another transaction that has the same unique value: all writes of a shared statement would wait, too.
 */
export function insertKind(
  open: SqlConnection,
  { entity, uniqueColumns }: EntityPlan,
  names: readonly string[],
  all: Selection,
): WriteKind | undefined {
  if (open.dialect.provider !== WRITES_TOGETHER || !names.includes("id") || uniqueColumns.size > 0) return undefined;
  const ofSize = (size: number): Statement => insertStatement(open, entity, names, size, all);
  return {
    key: `insert ${entity.name} ${names.join()}`,
    statement: { model: entity.name, operation: "insert" },
    most: MOST_INSERTS,
    one: async (client, values) => (await rows(all, client, ofSize(1).query(values)))[0] ?? null,
    async several(client, values) {
      const stored = await rows(all, client, ofSize(values.length).query(values.flat()));
      if (stored.length === values.length) return stored; // they come in the order of the values
      // A trigger of the database's own has left some out.
      const byId = new Map(stored.map((row) => [row.id, row]));
      return values.map((given) => byId.get(given[names.indexOf("id")]));
    },
  };
}

/** The columns that the values of a condition belong to, in their order; undefined for a condition that is not about its own row. */
function comparedColumns(condition: Condition): readonly ColumnDefinition[] | undefined {
  const columns: ColumnDefinition[] = [];
  let isOwn = true;
  visitCondition(condition, (leaf) => {
    if (leaf.op === "compare" && leaf.value === null) return;
    if (leaf.op === "compare" && ["eq", "gt", "gte", "lt", "lte"].includes(leaf.test)) columns.push(leaf.column);
    else isOwn = false;
  });
  return isOwn ? columns : undefined;
}

/**
 * How a record is changed together with others, and its values; undefined where it is changed on its own, as where it may wait for
 * a unique value, or for a record that it is to refer to.
 */
export function updateKind(
  open: SqlConnection,
  { entity, uniqueColumns }: EntityPlan,
  condition: Condition,
  data: Encoded,
  all: Selection,
): { readonly kind: WriteKind; readonly values: WriteValues } | undefined {
  if (open.dialect.provider !== WRITES_TOGETHER) return undefined;
  const changed = changedBy(entity, data);
  const compared = comparedColumns(condition);
  const waits = (name: string): boolean => uniqueColumns.has(name) || entity.columns[name]?.role === "foreignKey";
  if (compared === undefined || changed.names.some(waits)) return undefined;
  const values: unknown[] = [...changed.values];
  const where = conditionShape(condition, open.builder.provider, values);
  const columns = [...changed.names, ...compared.map(({ name }) => name)];
  const kind: WriteKind = {
    key: `update ${entity.name} ${changed.names.join()} ${where} ${changed.counts}`,
    statement: { model: entity.name, operation: "update" },
    most: MOST_UPDATES,
    async one(client, given) {
      const query = updateStatement(open, entity, condition, where, changed, all).query(given);
      return (await rows(all, client, query))[0] ?? null;
    },
    async several(client, given) {
      const size = 2 ** Math.ceil(Math.log2(given.length));
      const filled = [...given, ...Array<WriteValues>(size - given.length).fill(given.at(-1) as WriteValues)];
      const shape = { condition, where, changed, columns, size };
      const found = await client.queryRaw(updatesStatement(open, entity, shape, all).query(filled.flat()));
      const changes: (Row | undefined)[] = Array(given.length).fill(undefined);
      // A row that was given again and again has the place of any of them.
      for (const row of found.rows)
        changes[Math.min(Number(row[all.names.length]), given.length - 1)] = all.decode(row, 0);
      return changes;
    },
  };
  return { kind, values };
}
