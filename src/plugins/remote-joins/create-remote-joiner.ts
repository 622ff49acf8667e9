import { type AnyEntity, createModel, type EntityLike, type EntityModel } from "../../entity/index.ts";
import { type Driver, entityName, type IncludeTree, type Row, tagRecord } from "../../gate/index.ts";
import { getLogger, safeLogger } from "../../kernel/index.ts";
import { entitiesOf, type IncludeLike, type JoinedEntities, toIncludeTree } from "./remote-relations.ts";
import { completeOptions, type JoinSettings, type RemoteJoinsOptions } from "./stitch/remote-joins-options.ts";
import { createStitcher, type Stitcher } from "./stitch/stitch.ts";
import { chunksOf, createMemo, type ServiceLookup, type Viewer } from "./stitch/stitch-context.ts";

/** Options of `stitch`. */
export interface StitchOptions {
  /** Target entities of relations, and their own targets. Others are found through the relations. */
  readonly entities?: JoinedEntities | undefined;
  /** Resolves services by name: a `ServiceContainer`. */
  readonly container: ServiceLookup;
  /** Reads records of relations without a service. @default none: these relations are null */
  readonly driver?: FindingDriver | undefined;
}

/** Joins remote records outside an app. */
export interface RemoteJoiner {
  /**
   * Returns new objects: the records with the targets of their remote relations, or null for targets that are missing
   * or could not be fetched. Local relations of `include` are left unchanged. There is no caller, so no rules are
   * checked. Records are tagged with their entity, so that responses with them are masked; your code decides whether a
   * user may see them at all. Specification section 4.4.
   * @param include `{ plan: true }`, `["plan", "plan.vendor"]`, or undefined for no relations
   */
  stitch<T extends object>(
    records: readonly T[],
    entity: EntityLike,
    include: IncludeLike | undefined,
    options: StitchOptions,
  ): Promise<(T & Row)[]>;
}

/**
 * A joiner for code without an app (spec 4.4); an app itself joins the relations in `include`. The joiner keeps its
 * circuit breakers and the cached responses of shared services per container.
 * @throws ConfigurationError for invalid options
 * @example
 * const joiner = createRemoteJoiner({ timeout: 1_000 })
 * const joined = await joiner.stitch(customers, customer, { subscription: true }, { entities: [customer, subscription], container })
 */
export function createRemoteJoiner(options: RemoteJoinsOptions = {}): RemoteJoiner {
  const settings = completeOptions(options, "createRemoteJoiner");
  // Per container: the same name may stand for different services, and one tenant's services must not serve another
  // tenant.
  const stitchers = new WeakMap<ServiceLookup, Stitcher>();
  const stitcherFor = (container: ServiceLookup): Stitcher => {
    const stitcher = stitchers.get(container) ?? createStitcher(settings);
    stitchers.set(container, stitcher);
    return stitcher;
  };
  const modelOf = createModelMemory();
  const stitchTree = async (
    records: readonly Row[],
    entity: AnyEntity,
    include: IncludeTree,
    options: StitchOptions & { readonly model: EntityModel },
  ): Promise<void> => {
    const { model, container, driver } = options;
    const viewer = openViewer({ driver, services: container }, settings, (inner, rows, deeper) =>
      stitchTree(rows, inner, deeper, options),
    );
    const remote = onlyRemote(entity, include);
    const memo = createMemo();
    const given = { model, services: container, viewer, memo, caller: undefined, signal: undefined };
    const failures = await stitcherFor(container)({ ...given, entity, records, include: remote });
    failures.log(safeLogger(getLogger()), undefined);
  };
  return Object.freeze<RemoteJoiner>({
    async stitch<T extends object>(
      records: readonly T[],
      like: EntityLike,
      include: IncludeLike | undefined,
      { entities = [], container, driver }: StitchOptions,
    ) {
      const model = modelOf(like, entities);
      const entity = model.get(entityName(like)) as AnyEntity;
      const copies = records.map((record): T & Row => ({ ...(record as T & Row) }));
      await stitchTree(copies, entity, toIncludeTree(include), { model, container, driver });
      return copies;
    },
  });
}

function onlyRemote({ relations }: AnyEntity, include: IncludeTree): IncludeTree {
  return Object.fromEntries(
    Object.entries(include).filter(([name]) => Object.hasOwn(relations, name) && relations[name]?.remote !== undefined),
  );
}

interface Known {
  readonly others: readonly EntityLike[];
  readonly model: EntityModel;
}

/** Returns the model of an entity and the entities it is used with, built once per combination. */
type ModelMemory = (entity: EntityLike, entities: JoinedEntities) => EntityModel;

/** Creates the cache of a joiner's models. */
function createModelMemory(): ModelMemory {
  const models = new WeakMap<EntityLike, Known>();
  return (entity, entities) => {
    const name = entityName(entity);
    const others = entitiesOf(entities).filter((other) => entityName(other) !== name);
    const before = models.get(entity);
    if (before !== undefined && isSame(before.others, others)) return before.model;
    const model = createModel([entity, ...others]);
    models.set(entity, { others, model });
    return model;
  };
}

function isSame(one: readonly EntityLike[], other: readonly EntityLike[]): boolean {
  return one.length === other.length && one.every((like, index) => like === other[index]);
}

/** The part of a driver that reads an app's own records, outside of its rules. */
export type FindingDriver = Pick<Driver, "findMany">;

/**
 * A viewer without a caller. No rules are checked, and all columns except hidden ones are fetched. Records are tagged,
 * so that responses with them are masked for their caller.
 * @param stitchInner joins the included relations of records in the app's own database
 */
function openViewer(
  { driver, services }: { readonly driver: FindingDriver | undefined; readonly services: ServiceLookup },
  { batchSize }: JoinSettings,
  stitchInner: (entity: AnyEntity, records: readonly Row[], inner: IncludeTree) => Promise<void>,
): Viewer {
  return {
    async rightsOn(entity) {
      const columns = Object.keys(entity.columns).filter((name) => !entity.hidden.includes(name));
      return { columns, admit: (record) => tagRecord(entity, record) === record };
    },
    sees: () => true,
    // It is unknown which service owns an entity, so a relation that is not remote is left to the service.
    joins: ({ remote }) => remote !== undefined && (remote.service === undefined || services.has(remote.service)),
    async list(entity, ids, inner) {
      const rows: Row[] = [];
      for (const batch of chunksOf(ids, batchSize))
        rows.push(...((await driver?.findMany(entity, { where: { id: { in: batch } } })) ?? []));
      for (const row of rows) tagRecord(entity, row);
      await stitchInner(entity, rows, inner);
      return rows;
    },
  };
}
