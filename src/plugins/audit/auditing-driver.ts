import type { AnyEntity, ColumnDefinition, EntityModel } from "../../entity/index.ts";
import {
  and,
  type ChangePairs,
  type Condition,
  compare,
  type Delete,
  type Driver,
  entityOf,
  type Insert,
  soleId,
  type Update,
  type Written,
  withMiddleware,
} from "../../gate/index.ts";
import { type Actor, keepEntries, recordChange } from "./audit-entry.ts";
import { followDeletion } from "./follow-deletion.ts";

/** Rows of one statement. */
const PAGE = 500;

/** What entries are made of. */
export interface Auditing {
  readonly model: EntityModel;
  readonly audited: ReadonlySet<AnyEntity>;
  readonly actor: Actor;
}

/**
 * A driver for handlers, hooks and rules that keeps what is written past operations: each write and its entries are one
 * transaction. Statements on several records become one for each, because what each of them replaces is to be known.
 */
export function auditingDriver(inner: Driver, auditing: Auditing): Driver {
  const { model, audited } = auditing;
  return withMiddleware(inner, async (statement, next, driver) => {
    const entity = model.get(entityOf(statement).name);
    if (entity === undefined || !audited.has(entity)) return next(statement);
    switch (statement.kind) {
      case "insert":
        return driver.transaction((inside) => insert(auditing, inside, entity, statement));
      case "update":
      case "delete":
        return driver.transaction((inside) => each(auditing, inside, entity, statement));
      case "link":
      case "unlink":
        return driver.transaction((inside) => changePairs(auditing, inside, entity, statement));
      default:
        return next(statement);
    }
  });
}

async function insert({ actor }: Auditing, driver: Driver, entity: AnyEntity, statement: Insert): Promise<Written> {
  const written = await driver.execute(statement);
  const rows = written.rows.length > 0 ? written.rows : statement.rows;
  for (let start = 0; start < rows.length && written.count > 0; start += PAGE) {
    const changes = rows.slice(start, start + PAGE).flatMap((row) => recordChange("create", entity, null, row));
    await keepEntries(driver, actor, changes);
  }
  return written;
}

/** Changes or deletes the records that match, one after the other. */
async function each(
  auditing: Auditing,
  driver: Driver,
  entity: AnyEntity,
  statement: Update | Delete,
): Promise<Written> {
  const { where } = statement;
  const id = entity.columns.id as ColumnDefinition;
  const writeOne = (own: Condition): Promise<Written> =>
    statement.kind === "update"
      ? change(auditing, driver, entity, { ...statement, where: own })
      : remove(auditing, driver, entity, { ...statement, where: own });
  if (soleId(where) !== undefined) return writeOne(where);
  let count = 0;
  for (let page = where; ; ) {
    const rows = await driver.execute({ kind: "find", entity, where: page, select: ["id"], limit: PAGE });
    for (const row of rows) count += (await writeOne(and([compare(id, "eq", row.id), where]))).count;
    if (rows.length < PAGE) return { count, rows: [] };
    page = and([where, compare(id, "gt", rows.at(-1)?.id)]);
  }
}

async function change({ actor }: Auditing, driver: Driver, entity: AnyEntity, statement: Update): Promise<Written> {
  const { where, returning } = statement;
  const [before] = await driver.execute({ kind: "find", entity, where, limit: 1, lock: true });
  if (before === undefined) return { count: 0, rows: [] };
  const old = { ...before };
  const written = await driver.execute({ ...statement, returning: true });
  for (const after of written.rows) await keepEntries(driver, actor, recordChange("update", entity, old, after));
  return returning === true ? written : { count: written.count, rows: [] };
}

async function remove(auditing: Auditing, driver: Driver, entity: AnyEntity, statement: Delete): Promise<Written> {
  const { model, audited, actor } = auditing;
  const [before] = await driver.execute({ kind: "find", entity, where: statement.where, limit: 1, lock: true });
  if (before === undefined) return { count: 0, rows: [] };
  await followDeletion({ model, audited, driver, actor }, entity, before.id as string);
  await keepEntries(driver, actor, recordChange("delete", entity, before, null));
  return driver.execute(statement);
}

/** Keeps the pairs that were not there, or were: of the side that writes them. */
async function changePairs(
  { actor }: Auditing,
  driver: Driver,
  entity: AnyEntity,
  statement: ChangePairs,
): Promise<undefined> {
  const { kind, relation, id, targets } = statement;
  await driver.findOne(entity, { id }, { select: ["id"], lock: true }); // others who write its pairs wait
  const there = new Set((await driver.links(entity, relation.name, [id])).map(({ target }) => target));
  await driver.execute(statement);
  const moved = targets.filter((target) => there.has(target) === (kind === "unlink"));
  if (moved.length === 0) return;
  const side = { [relation.name]: moved };
  const [before, after] = kind === "link" ? [null, side] : [side, null];
  const made = { changed: [relation.name], before, after };
  await keepEntries(driver, actor, [{ operation: kind, entity: entity.name, recordId: id, change: made }]);
}
