import type {
  ActionCalls,
  AggregateOptions,
  AnyEntity,
  ClientList,
  DefinitionOf,
  IncludeChoice,
  InferCreate,
  InferEntityData,
  InferGroup,
  InferRecord,
  InferSelect,
  InferUpdate,
  InferWhere,
  ListOptions,
  NamesOf,
} from "../../entity/index.ts";
import { AuthorizationError, BadRequestError, didYouMean, Reply } from "../../kernel/index.ts";
import type { Row, Where } from "../condition/condition.ts";
import type { Operation, OperationQuery } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { Route } from "../operation/route.ts";
import { presentGroups } from "../record/present-groups.ts";
import { presentSettled } from "../record/serialize.ts";
import { orderOfSearch } from "../run/rank.ts";
import { versionIs } from "../run/take-precondition.ts";
import { upsert } from "../run/upsert.ts";
import { includeTree, sortKey } from "./include-tree.ts";

/** Options of calls that change a record of a versioned entity. */
export interface IfVersion {
  /** The version the record must still have; otherwise PreconditionFailedError is thrown. @default any */
  readonly ifVersion?: number | undefined;
}

/** Options of `delete`. @typeParam TSystem whether the system deletes */
export type DeleteOptions<TSystem extends boolean = false> = IfVersion &
  (TSystem extends true
    ? {
        /**
         * Includes softly deleted records: `"only"` these, or `"with"` all others. @default records that are not softly
         * deleted
         */
        readonly deleted?: "with" | "only" | undefined;
      }
    : unknown);

/**
 * Typed access to one entity: same rules, same field masks, no HTTP. Errors are thrown.
 * @typeParam TSystem the fields that only the system may write
 * @typeParam THidden whether the client is the system's: conditions may then use fields with `.omit()` and
 *   `.password()`, softly deleted records may be deleted permanently, and fields with `.readable()` are always present
 */
export interface EntityClient<E, TSystem = unknown, THidden extends boolean = false> {
  list<const I extends IncludeChoice<E> = never, const S extends InferSelect<E> = never>(
    options?: ListOptions<E, never, S, THidden, I>,
  ): Promise<ClientList<InferRecord<E, NamesOf<I>, S, THidden, I>>>;
  get<const I extends IncludeChoice<E> = never, const S extends InferSelect<E> = never>(
    id: string,
    options?: Pick<ListOptions<E, never, S, false, I>, "include" | "select" | "deleted">,
  ): Promise<InferRecord<E, NamesOf<I>, S, THidden, I>>;
  create(data: InferCreate<E> & TSystem): Promise<InferRecord<E, never, never, THidden>>;
  update(
    id: string,
    data: InferUpdate<E> & TSystem,
    options?: IfVersion,
  ): Promise<InferRecord<E, never, never, THidden>>;
  /**
   * Updates the record with the given values of a unique key, or creates it. The rules of the operation that runs
   * apply.
   * @param on a unique field, or the fields of a unique combination
   */
  upsert(
    data: InferCreate<E> & TSystem,
    options: { readonly on: string | readonly string[] },
  ): Promise<InferRecord<E, never, never, THidden>>;
  delete(id: string, options?: DeleteOptions<THidden>): Promise<void>;
  count(where?: InferWhere<E, THidden>): Promise<number>;
  /**
   * Computes aggregates of the matching records: `{ group: ["month(createdAt)"], count: true, sum: ["total"] }` returns
   * `[{ "month(createdAt)": "2026-03-01", count: 2, sum: { total: "30.00" } }]`.
   */
  aggregate<const O extends AggregateOptions<E, THidden>>(options: O): Promise<InferGroup<E, O>[]>;
}

type NameOf<E> = DefinitionOf<E> extends { readonly name: infer N extends string } ? N : never;

type ActionsOf<E> = ActionCalls<
  DefinitionOf<E> extends { readonly $entity?: { readonly actions: infer A } } ? A : never,
  keyof EntityClient<E> & string
>;

/** One client per entity, by name. The entity's actions are methods of the client. */
export type InProcessClient<TEntities extends readonly unknown[]> = {
  readonly [E in TEntities[number] as NameOf<E>]: EntityClient<E> & ActionsOf<E>;
};

/** Clients of the system. They can also write ids, timestamps and readonly fields, and read hidden fields. */
export type SystemClient<TEntities extends readonly unknown[]> = {
  readonly [E in TEntities[number] as NameOf<E>]: EntityClient<E, Partial<InferEntityData<E>>, true> & ActionsOf<E>;
};

/** Runs one call of a client in its own scope, which ends with the call. */
type WithinScope = <T>(work: (scope: OperationScope) => Promise<T>) => Promise<T>;
type Clients = Record<string, EntityClient<AnyEntity>>;
const kWithin: unique symbol = Symbol("within");

/**
 * Compiles the clients of all entities. The returned function binds them to a caller; each client is created on first
 * use.
 */
export function compileClients(
  entities: readonly AnyEntity[],
  routes: () => readonly Route[],
): (within: WithinScope) => Clients {
  const prototype: Clients = Object.create(null);
  for (const entity of entities) {
    let calls: readonly Route[] | undefined;
    Object.defineProperty(prototype, entity.name, {
      get(this: { readonly [kWithin]: WithinScope }) {
        // Resolved on first use: plugins can add routes until the app is set up.
        calls ??= routes().filter((route) => route.entity === entity && route.call !== undefined);
        const value = createEntityClient(entity, this[kWithin], calls);
        Object.defineProperty(this, entity.name, { value, enumerable: true });
        return value;
      },
    });
  }
  return (within) => Object.create(prototype, { [kWithin]: { value: within } });
}

/** Methods that every client has; actions cannot replace them. */
export const CLIENT_METHODS = ["list", "get", "create", "update", "upsert", "delete", "count", "aggregate"] as const;

function createEntityClient(entity: AnyEntity, within: WithinScope, actions: readonly Route[]): object {
  const calls = actions.map(({ action, call }) => [action, caller(within, call as NonNullable<Route["call"]>)]);
  const one = (operation: Operation): Promise<unknown> => presentSettled(operation.records[0], operation.scope, false);
  return Object.freeze({
    ...Object.fromEntries(calls),
    async list(options: ListOptions = {}) {
      checkOptions("list", options, LIST_OPTIONS);
      return await within(async (scope) => {
        const query = { ...listQuery(entity, options, scope), total: options.total ?? true };
        scope.state.shown?.noteCount(entity);
        const { records, total, nextCursor } = await scope.run({ kind: "list", entity, query });
        const data = await presentSettled(records, scope, false);
        return { data, total: total ?? 0, nextCursor: nextCursor ?? null };
      });
    },
    async get(id: string, options: Pick<ListOptions, "include" | "select" | "deleted"> = {}) {
      assertId(id);
      checkOptions("get", options, GET_OPTIONS);
      const { include, select, deleted } = options;
      const query: OperationQuery = { include: includeTree(include), select, deleted };
      return await within(async (scope) => one(await scope.run({ kind: "read", entity, id, query })));
    },
    async create(data: Row, options = {}) {
      checkOptions("create", options, []);
      return await within(async (scope) => one(await scope.run({ kind: "create", entity, data })));
    },
    async update(id: string, data: Row, options: IfVersion = {}) {
      assertId(id);
      checkOptions("update", options, WRITE_OPTIONS);
      const precondition = versionIs(entity, id, options.ifVersion);
      return await within(async (scope) => one(await scope.run({ kind: "update", entity, id, data, precondition })));
    },
    async upsert(data: Row, options: { readonly on?: string | readonly string[] | undefined } = {}) {
      checkOptions("upsert", options, ["on"]);
      const { on = [] } = options;
      return await within(async (scope) => one(await upsert(scope, entity, { on: [on].flat(), data })));
    },
    async delete(id: string, options: DeleteOptions<true> = {}) {
      assertId(id);
      checkOptions("delete", options, DELETE_OPTIONS);
      const { ifVersion, deleted } = options;
      const precondition = versionIs(entity, id, ifVersion);
      await within((scope) => {
        if (deleted !== undefined && scope.principal.kind !== "system")
          throw new AuthorizationError("Only the system deletes softly deleted records for good");
        return scope.run({ kind: "delete", entity, id, precondition, query: { deleted } });
      });
    },
    async count(where?: Where, options = {}) {
      checkOptions("count", options, []);
      return await within(async (scope) => {
        scope.state.shown?.noteCount(entity);
        return (await scope.run({ kind: "count", entity, query: { where } })).total ?? 0;
      });
    },
    async aggregate(options: AggregateOptions) {
      checkOptions("aggregate", options, AGGREGATE_OPTIONS);
      return await within(async (scope) => {
        const { where, deleted, sort, ...rest } = options;
        scope.state.shown?.noteCount(entity);
        const query = { where, deleted, aggregate: { ...rest, sort: sort?.map(sortKey) } };
        const { groups = [] } = await scope.run({ kind: "count", entity, query });
        return presentGroups(entity, groups, false);
      });
    },
  });
}

function caller(within: WithinScope, call: NonNullable<Route["call"]>): (...args: readonly unknown[]) => unknown {
  return async (...args) =>
    await within(async (scope) => {
      const result = await call(scope, ...args);
      return await presentSettled(result instanceof Reply ? result.body : result, scope, false);
    });
}

const GET_OPTIONS = ["include", "select", "deleted"] as const;
const LIST_OPTIONS = ["where", "sort", "page", "limit", "after", "total", "q", "highlight", ...GET_OPTIONS] as const;
const AGGREGATE_OPTIONS = [
  ...["where", "deleted", "group", "count", "sum", "avg", "min", "max", "having", "sort", "limit", "offset", "zone"],
] as const;
const WRITE_OPTIONS = ["ifVersion"] as const;
const DELETE_OPTIONS = ["ifVersion", "deleted"] as const;
const LISTS: ReadonlySet<string> = new Set(["sort", "select", "group", "sum", "avg", "min", "max"]);

/** Refuses unknown options: `{ filter }` instead of `{ where }` would list every record. @throws BadRequestError */
function checkOptions(method: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null)
    throw new BadRequestError(`The options of ${method}() must be an object`);
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      const takes = known.length === 0 ? "takes no options" : `takes ${known.join(", ")}`;
      throw new BadRequestError(`${method}() has no option "${name}".${didYouMean(name, known)} It ${takes}`);
    }
    const value = (options as Row)[name];
    if (LISTS.has(name) && value !== undefined && !Array.isArray(value))
      throw new BadRequestError(`The option "${name}" of ${method}() must be a list, such as ["title"]`);
  }
}

function listQuery(entity: AnyEntity, options: ListOptions, scope: OperationScope): OperationQuery {
  const { pageSize, maxPageSize, maxOffset } = scope.app.limits;
  const limit = options.limit ?? pageSize;
  const page = options.page ?? 1;
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPageSize)
    throw new BadRequestError(`limit must be a whole number from 1 to ${maxPageSize}`);
  if (!Number.isInteger(page) || page < 1 || (page - 1) * limit > maxOffset)
    throw new BadRequestError("page is out of range; use after to go on");
  // As in query strings, an empty text searches for nothing.
  const search = options.q === "" ? undefined : options.q;
  return {
    sort: orderOfSearch(entity, { search, sort: options.sort?.map(sortKey) }),
    where: options.where,
    search,
    highlight: options.highlight,
    limit,
    // Set only for `page`: over `limits.pageBytes`, a page with an offset is refused; other pages are cut and get a
    // cursor.
    offset: options.after === undefined && options.page !== undefined ? (page - 1) * limit : undefined,
    after: options.after,
    include: includeTree(options.include),
    select: options.select,
    deleted: options.deleted,
  };
}

/** @throws BadRequestError when an operation on one record has no id */
function assertId(id: string | undefined): asserts id is string {
  if (typeof id !== "string" || id === "") throw new BadRequestError("An id is needed");
}
