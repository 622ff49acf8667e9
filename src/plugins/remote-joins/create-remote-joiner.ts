import { type AnyEntity, createModel, type EntityLike, type EntityModel } from "../../entity/index.ts";
import { type Driver, entityName, type IncludeTree, type Row, tagRecord } from "../../gate/index.ts";
import { getLogger, safeLogger } from "../../kernel/index.ts";
import { entitiesOf, type IncludeLike, type JoinedEntities, toIncludeTree } from "./remote-relations.ts";
import { completeOptions, type JoinSettings, type RemoteJoinsOptions } from "./stitch/remote-joins-options.ts";
import { createStitcher, type Stitcher } from "./stitch/stitch.ts";
import { chunksOf, createMemo, type ServiceLookup, type Viewer } from "./stitch/stitch-context.ts";

/** What `stitch` needs to know besides the records. */
export interface StitchOptions {
  /** Entities that relations lead to, and those that these lead to; others are found through the relations. */
  readonly entities?: JoinedEntities | undefined;
  /** Where services are found by name: a `ServiceContainer`. */
  readonly container: ServiceLookup;
  /** Where records of relations without a service are found. @default none: these relations are null */
  readonly driver?: FindingDriver | undefined;
}

/** Joins remote records outside an app. */
export interface RemoteJoiner {
  /**
   * New objects: the records with the targets of their remote relations, null for those that are missing or could not
   * be fetched. Local relations of `include` are left as they are. There is no caller, so no rule is checked. Records
   * are tagged with their entity, so that a response made from them is masked; the code that calls this decides whether
   * a user may see them at all. Specification section 4.4.
   * @param include `{ plan: true }`, `["plan", "plan.vendor"]`, or undefined for nothing
   */
  stitch<T extends object>(
    records: readonly T[],
    entity: EntityLike,
    include: IncludeLike | undefined,
    options: StitchOptions,
  ): Promise<(T & Row)[]>;
}

/**
 * A joiner for code without an app (spec 4.4); an app itself joins what `include` asks for. It keeps its circuit
 * breakers and the responses of shared services per container.
 * @throws ConfigurationError for options that make no sense
 * @example
 * const joiner = createRemoteJoiner({ timeout: 1_000 })
 * const joined = await joiner.stitch(customers, customer, { subscription: true }, { entities: [customer, subscription], container })
 */
export function createRemoteJoiner(options: RemoteJoinsOptions = {}): RemoteJoiner {
  const settings = completeOptions(options, "createRemoteJoiner");
  // Per container: two of them may know different services by one name, and the services of one tenant must not serve
  // another.
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

/** Finds the model of an entity and those it is used with. It is made once for the same entities. */
type ModelMemory = (entity: EntityLike, entities: JoinedEntities) => EntityModel;

/** A memory of the models that one joiner works with. */
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

/** What an app's own records are found with, outside its rules. */
export type FindingDriver = Pick<Driver, "findMany">;

/**
 * A viewer without a caller: no rule is checked, and every column that records show is fetched. Records are still
 * tagged, so that a response made from them is masked for its caller.
 * @param stitchInner joins what is included in records of the app's own database
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
    // Whose the entities are is not known here: what is not said to be remote is left to the service.
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
