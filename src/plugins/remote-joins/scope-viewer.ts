import type { AnyEntity, EntityModel, ResolvedRelation } from "../../entity/index.ts";
import {
  type Condition,
  compileWhere,
  looksAt,
  markShown,
  matches,
  type OperationScope,
  type Row,
  type RowAccess,
  tagRecord,
  visitCondition,
} from "../../gate/index.ts";
import type { JoinSettings } from "./stitch/remote-joins-options.ts";
import { chunksOf, type Rights, type Viewer } from "./stitch/stitch-context.ts";

/** The viewer for a scope's caller. The rules of entities and fields apply wherever records come from. */
export function scopeViewer(scope: OperationScope, { batchSize }: JoinSettings): Viewer {
  const asked = new Map<AnyEntity, Promise<Rights | undefined>>();
  return {
    rightsOn(entity) {
      scope.state.shown?.noteEntity(entity); // there may be no record
      let rights = asked.get(entity);
      if (rights === undefined) {
        rights = findRights(scope, entity);
        asked.set(entity, rights);
      }
      return rights;
    },
    sees: (relation) => seesRelation(scope, relation),
    // The target comes from a service that is registered here, or from the app's own database.
    joins: ({ remote, target }) =>
      remote?.service === undefined
        ? scope.app.model.get(target.name) !== undefined
        : scope.services.has(remote.service),
    async list(entity, ids, inner) {
      scope.state.shown?.noteEntity(entity);
      const include = Object.keys(inner).length === 0 ? undefined : inner;
      const rows: Row[] = [];
      // One after the other: a transaction has one connection, and other requests wait for theirs.
      for (const batch of chunksOf(ids, batchSize)) {
        const query = { where: { id: { in: batch } }, limit: batch.length, include };
        rows.push(...(await scope.run({ kind: "list", entity, query, bounded: true })).records);
      }
      return rows;
    },
  };
}

/** A relation is visible only if the caller may read its foreign key. */
function seesRelation(scope: OperationScope, { type, source, target, foreignKey }: ResolvedRelation): boolean {
  if (foreignKey === undefined) return true;
  return scope.access.mask(type === "belongsTo" ? source : target).readable.has(foreignKey);
}

async function findRights(scope: OperationScope, entity: AnyEntity): Promise<Rights | undefined> {
  const decision = await scope.access.readDecision(entity);
  if (!decision.allowed) return undefined;
  const { readable, readablePerRow } = scope.access.mask(entity);
  const access = compileAccess(scope.app.model, entity, decision);
  const fields = [...(readablePerRow ?? [])].map(
    ([name, one]) => [name, compileAccess(scope.app.model, entity, one)] as const,
  );
  const all = [access, ...fields.map(([, one]) => one)];
  return Object.freeze({ columns: columnsFor(entity, readable, all), admit: admitting(scope, entity, access, fields) });
}

/**
 * The columns that the caller may read, and those that rules need. A rule that is a function needs all columns: a
 * missing one would look empty.
 */
function columnsFor(entity: AnyEntity, readable: ReadonlySet<string>, all: readonly Access[]): readonly string[] {
  const needed = new Set(["id", ...readable, ...all.flatMap(({ columns }) => columns)]);
  const isWhole = all.some(({ guard }) => guard !== undefined);
  return Object.keys(entity.columns).filter((name) => (isWhole || needed.has(name)) && !entity.hidden.includes(name));
}

function admitting(
  scope: OperationScope,
  entity: AnyEntity,
  { holds, guard }: Access,
  fields: readonly (readonly [string, Access])[],
): Rights["admit"] {
  if (guard === undefined && fields.length === 0)
    return (record) => {
      if (holds !== undefined && !holds(record)) return false;
      tagRecord(entity, record);
      return true;
    };
  return async (record) => {
    if (holds !== undefined && !holds(record)) return false;
    tagRecord(entity, record);
    if (guard !== undefined && !(await guard(record))) return false;
    const shown = new Set<string>();
    for (const [name, field] of fields)
      if (field.holds?.(record) === true || (await field.guard?.(record)) === true) shown.add(name);
    markShown(record, scope, shown);
    return true;
  };
}

/** Access to a record or one of its fields, decided on the record alone. */
interface Access {
  /** Columns that the condition reads. */
  readonly columns: readonly string[];
  /**
   * Whether a record satisfies the condition; undefined without a condition. A missing value does not satisfy it.
   */
  readonly holds: ((record: Row) => boolean) | undefined;
  readonly guard: ((record: Row) => Promise<boolean>) | undefined;
}

/** Compiles the rules for records of another service, where related records cannot be queried. */
function compileAccess(model: EntityModel, entity: AnyEntity, { predicate, guard }: Partial<RowAccess>): Access {
  if (predicate === undefined) return { columns: [], holds: undefined, guard: alone(model, entity, guard) };
  const condition = compileWhere(model, entity, predicate);
  const needed = ownColumns(condition);
  if (needed === undefined) return { columns: [], holds: () => false, guard: alone(model, entity, guard) };
  return {
    columns: needed,
    holds: (record) => needed.every((name) => name in record) && matches(condition, record, noRelatedRows),
    guard: alone(model, entity, guard),
  };
}

/** A guard whose conditions are also decided on the record alone. */
function alone(model: EntityModel, entity: AnyEntity, guard: RowAccess["guard"]): Access["guard"] {
  return (
    guard &&
    (async (record) => {
      const answer = await guard(record);
      return typeof answer === "object"
        ? compileAccess(model, entity, { predicate: answer }).holds?.(record) === true
        : answer;
    })
  );
}

/** The columns of a condition; undefined if it also reads related records. */
function ownColumns(condition: Condition): readonly string[] | undefined {
  const columns = new Set<string>();
  visitCondition(condition, (leaf) => leaf.op === "compare" && columns.add(leaf.column.name));
  return looksAt(condition) ? undefined : [...columns];
}

function noRelatedRows(): readonly Row[] {
  return [];
}
