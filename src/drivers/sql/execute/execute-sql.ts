import type { ColumnDefinition, Provider } from "../../../entity/index.ts";
import type {
  ChangePairs,
  DriverPort,
  Execute,
  FindPairs,
  Insert,
  Pair,
  ResultOf,
  Row,
  Statement,
  Update,
  Written,
} from "../../../gate/index.ts";
import { codecOf } from "../condition/column-codec.ts";
import { danglingReference, isDangling } from "../errors/to-keelson-error.ts";
import { sharedWrites } from "../fast/shared-writes.ts";
import type { Fast } from "../fast/switches.ts";
import { linkQuery, linksQuery, unlinkQuery } from "../statement/link-queries.ts";
import type { SqlSession } from "../statement/sql-connection.ts";
import { aggregateRows } from "./aggregate-rows.ts";
import { countRows, sqlFind } from "./sql-reads.ts";
import { deleteRows, insertRow, insertRows, portionsOf, updateRow, updateRows } from "./sql-writes.ts";

/**
 * Runs statements in SQL. The SQL is written when a statement is submitted, with copies of its data, so that later
 * changes to it have no effect while the statement waits for its turn.
 */
export function sqlExecutor(session: SqlSession, transaction: DriverPort["transaction"], fast: Fast): Execute {
  const find = sqlFind(session, fast);
  const shared = fast.sharedWrites && !session.inTransaction ? sharedWrites(session) : undefined;

  function insert(statement: Insert): Promise<Written> {
    const entity = session.connection().entityOf(statement.entity);
    const { rows, where, returning } = statement;
    if (returning === true || where !== undefined) {
      const [data] = rows as readonly [Row];
      return insertRow(session, shared, entity, data, where).then(writtenOne);
    }
    const portions = portionsOf(session, entity, rows);
    if (session.inTransaction || portions.length < 2) return insertRows(session, entity, portions).then(writtenSeveral);
    return transaction((execute) => execute(statement));
  }

  function update({ entity: given, where, data, returning }: Update): Promise<Written> {
    const entity = session.connection().entityOf(given);
    if (returning === true) return updateRow(session, shared, entity, where, data).then(writtenOne);
    return updateRows(session, entity, where, data).then(writtenSeveral);
  }

  function run(statement: Statement): Promise<ResultOf<Statement>> {
    const open = session.connection();
    switch (statement.kind) {
      case "find":
        return find(statement);
      case "count":
        return countRows(session, open.entityOf(statement.entity), statement);
      case "aggregate":
        return aggregateRows(session, run as Execute, statement);
      case "insert":
        return insert(statement);
      case "update":
        return update(statement);
      case "delete":
        return deleteRows(session, open.entityOf(statement.entity), statement.where).then(writtenSeveral);
      case "pairs":
        return selectLinks(session, statement);
      case "link":
        if (session.inTransaction || statement.targets.length <= PAIRS) return addLinks(session, statement);
        return transaction((execute) => execute(statement));
      default:
        return removeLinks(session, statement);
    }
  }
  return ((statement) => {
    try {
      return run(statement);
    } catch (error) {
      return Promise.reject(error);
    }
  }) as Execute;
}

function writtenSeveral(count: number): Written {
  return { count, rows: [] };
}

function writtenOne(row: Row | null): Written {
  return row === null ? { count: 0, rows: [] } : { count: 1, rows: [row] };
}

/** Maximum number of pairs in one INSERT. */
const PAIRS = 1_000;

/** Reads pairs of a relation, ordered by source, then target. */
async function selectLinks(session: SqlSession, statement: FindPairs): Promise<Pair[]> {
  const { relation, ids, where, limit = Number.POSITIVE_INFINITY } = statement;
  const sources = [...new Set(ids)];
  if (sources.length === 0 || limit === 0) return [];
  const query = linksQuery(session.connection(), relation, sources, where, limit);
  const { rows } = await session.read({ model: relation.source.name, operation: "links" }, (client) =>
    client.queryRaw(query),
  );
  const { provider } = session.connection().dialect;
  const [near, far] = [relation.source, relation.target].map(({ columns }) => columns.id) as [
    ColumnDefinition,
    ColumnDefinition,
  ];
  const [readNear, readFar] = [idReader(provider, near), idReader(provider, far)];
  const pairs = rows.map(([source, target]): Pair => ({ source: readNear(source), target: readFar(target) }));
  return pairs.sort((a, b) => near.kind.compare(a.source, b.source) || far.kind.compare(a.target, b.target));
}

function idReader(provider: Provider, column: ColumnDefinition): (stored: unknown) => string {
  const { decode } = codecOf(provider, column);
  return decode === undefined ? (stored) => stored as string : (stored) => decode(stored) as string;
}

/** Adds pairs. @throws ValidationFailedError when one end does not exist */
async function addLinks(session: SqlSession, { relation, id, targets }: ChangePairs): Promise<undefined> {
  const open = session.connection();
  for (let start = 0; start < targets.length; start += PAIRS) {
    const query = linkQuery(open, relation, id, targets.slice(start, start + PAIRS));
    try {
      await session.write({ model: relation.source.name, operation: "link" }, (client) => client.executeRaw(query));
    } catch (error) {
      if (!isDangling(error)) throw error;
      throw danglingReference([`${relation.name}Ids`], error.cause);
    }
  }
}

/** Removes pairs; missing pairs are ignored. */
async function removeLinks(session: SqlSession, { relation, id, targets }: ChangePairs): Promise<undefined> {
  if (targets.length === 0) return;
  const query = unlinkQuery(session.connection(), relation, id, targets);
  await session.write({ model: relation.source.name, operation: "unlink" }, (client) => client.executeRaw(query));
}
