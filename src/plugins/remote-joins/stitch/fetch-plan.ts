import type { AnyEntity, ResolvedRelation } from "../../../entity/index.ts";
import type { IncludeTree, RemoteInclude } from "../../../gate/index.ts";
import { type ReadValue, valueReader } from "./read-value.ts";
import type { Rights, StitchContext } from "./stitch-context.ts";

/** How one column of a record from outside is read. */
interface ColumnReader {
  readonly name: string;
  readonly optional: boolean;
  /**
   * Whether a missing value is null before access to the record is decided. Only the field of soft deletion is, since
   * services leave deleted records out; a rule may need to know that another field is empty.
   */
  readonly nullWhenAbsent: boolean;
  readonly read: ReadValue;
}

const known = new WeakMap<AnyEntity, readonly ColumnReader[]>();

/** Readers of the columns that records show; made once per entity. Others are never asked for, and dropped when they come. */
function readersOf(entity: AnyEntity): readonly ColumnReader[] {
  let readers = known.get(entity);
  if (readers === undefined) {
    readers = Object.values(entity.columns)
      .filter(({ name }) => !entity.hidden.includes(name))
      .map((column) => ({
        name: column.name,
        optional: column.optional,
        nullWhenAbsent: column.name === entity.softDelete?.field,
        read: valueReader(column),
      }));
    known.set(entity, readers);
  }
  return readers;
}

/** What is asked of a service about records of one entity, and what becomes of its answer. */
export interface FetchPlan {
  readonly entity: AnyEntity;
  readonly rights: Rights;
  readonly select: readonly string[];
  /** The columns of `select`, and how their values are read. */
  readonly readers: readonly ColumnReader[];
  /** Columns of `select` that may be empty. */
  readonly optional: readonly string[];
  /** Relations that the service is asked to bring along. */
  readonly include: Readonly<Record<string, RemoteInclude>> | undefined;
  readonly nested: readonly NestedPlan[];
  /** Relations that are joined here when the records have come. */
  readonly here: IncludeTree;
  /** Relations whose records are not for the caller. */
  readonly closed: readonly ResolvedRelation[];
  /** The same for plans whose answers look alike. */
  readonly signature: string;
}

/** A relation that comes along. */
export interface NestedPlan {
  readonly relation: ResolvedRelation;
  readonly plan: FetchPlan;
}

/**
 * Plans what to fetch: the columns the caller may read, those that their rights depend on, and the relations they may
 * see. Undefined when the caller may see no record: then the service is not called.
 */
export async function planFetch(
  context: StitchContext,
  entity: AnyEntity,
  inner: IncludeTree,
): Promise<FetchPlan | undefined> {
  const rights = await context.viewer.rightsOn(entity);
  if (rights === undefined) return undefined;
  const columns = new Set(rights.columns);
  const nested: NestedPlan[] = [];
  const here: Record<string, IncludeTree> = {};
  const closed: ResolvedRelation[] = [];
  for (const [name, deeper] of Object.entries(inner)) {
    const relation = context.model.relation(entity, name);
    if (relation === undefined) continue;
    if (!context.viewer.sees(relation)) closed.push(relation);
    else if (relation.type === "belongsTo" && context.viewer.joins(relation)) {
      here[name] = deeper;
      columns.add(relation.foreignKey as string);
    } else {
      const plan = await planFetch(context, relation.target, deeper);
      if (plan === undefined) closed.push(relation);
      else nested.push({ relation, plan });
    }
  }
  const select = Object.keys(entity.columns).filter((name) => columns.has(name));
  const readers = readersOf(entity).filter(({ name }) => columns.has(name));
  return Object.freeze({
    entity,
    rights,
    select,
    readers,
    optional: readers.filter(({ optional }) => optional).map(({ name }) => name),
    include: includeOf(nested),
    nested,
    here,
    closed,
    signature: signatureOf(entity, select, nested),
  });
}

function includeOf(nested: readonly NestedPlan[]): FetchPlan["include"] {
  if (nested.length === 0) return undefined;
  return Object.fromEntries(nested.map(({ relation, plan }) => [relation.name, plan.include ?? true]));
}

function signatureOf(entity: AnyEntity, select: readonly string[], nested: readonly NestedPlan[]): string {
  const inside = nested.map(({ relation, plan }) => `${relation.name}:${plan.signature}`);
  return `${entity.name}(${select.join(",")};${inside.join(",")})`;
}
