import type { AnyEntity, ResolvedRelation } from "../../../entity/index.ts";
import type { IncludeTree, RemoteInclude } from "../../../gate/index.ts";
import { type ReadValue, valueReader } from "./read-value.ts";
import type { Rights, StitchContext } from "./stitch-context.ts";

/** Reads one column of a remote record. */
interface ColumnReader {
  readonly name: string;
  readonly optional: boolean;
  /**
   * Whether a missing value is null before access to the record is decided. This only applies to the field of soft
   * deletion, because services leave out deleted records. For other fields, a rule may need to know that the value is
   * missing.
   */
  readonly nullWhenAbsent: boolean;
  readonly read: ReadValue;
}

const known = new WeakMap<AnyEntity, readonly ColumnReader[]>();

/**
 * Readers of the columns that are not hidden, made once per entity. Hidden columns are not requested, and dropped if
 * they are sent.
 */
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

/** A request for records of one entity, and how the response is read. */
export interface FetchPlan {
  readonly entity: AnyEntity;
  readonly rights: Rights;
  readonly select: readonly string[];
  /** Readers of the columns in `select`. */
  readonly readers: readonly ColumnReader[];
  /** Columns of `select` that may be empty. */
  readonly optional: readonly string[];
  /** Relations that the service returns along with the records. */
  readonly include: Readonly<Record<string, RemoteInclude>> | undefined;
  readonly nested: readonly NestedPlan[];
  /** Relations that are joined here after the records have arrived. */
  readonly here: IncludeTree;
  /** Relations whose records the caller may not see. */
  readonly closed: readonly ResolvedRelation[];
  /** Equal for plans whose responses have the same shape. */
  readonly signature: string;
}

/** A relation that the service returns along with its records. */
export interface NestedPlan {
  readonly relation: ResolvedRelation;
  readonly plan: FetchPlan;
}

/**
 * Plans a fetch: the columns that the caller may read or that rules depend on, and the relations that the caller may
 * see. Undefined when the caller may see no record; the service is then not called.
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
