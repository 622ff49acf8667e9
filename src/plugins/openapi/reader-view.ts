import { type AnyEntity, isKeelsonError } from "../../entity/index.ts";
import type { FieldMask, OperationScope, PluginContext, Route, RouteAccess } from "../../gate/index.ts";
import { type Questions, watchScope } from "./watch-scope.ts";

/** The routes of a reader. */
interface UsableRoutes {
  /**
   * Routes that the reader may use for some or all records. For the system: routes that are not closed to all callers.
   */
  readonly routes: readonly Route[];
  /** The routes that anonymous callers may use for all records. */
  readonly open: ReadonlySet<Route>;
  /** Whether that is true of every route. */
  readonly isAllOpen: boolean;
}

type FindUsableRoutes = (scope: OperationScope) => Promise<UsableRoutes>;

type Answers = ReadonlyMap<Route, RouteAccess>;

const DENIED: RouteAccess = Object.freeze({ allowed: false, forAll: false, rules: undefined });

/**
 * Checks routes with the gate, as requests do, so that it does not matter which plugin decides.
 * @param context its routes must be complete before the first call
 */
function createRouteFinder(context: PluginContext): FindUsableRoutes {
  return async (scope) => {
    const all = context.routes.list();
    const { kind } = scope.principal;
    const anonymous =
      kind === "anonymous"
        ? await askAll(all, scope)
        : await context.runAs(null, (anonymous) => askAll(all, anonymous, true), { early: true });
    const isClosed = (route: Route): boolean =>
      (anonymous.get(route)?.rules ?? route.rules ?? route.obeys)?.length === 0;
    const own = kind === "user" ? await askAll(all, scope) : anonymous;
    const routes = all.filter((route) => (kind === "system" ? !isClosed(route) : own.get(route)?.allowed === true));
    const open = new Set(all.filter((route) => anonymous.get(route)?.forAll === true));
    return { routes, open, isAllOpen: open.size === all.length };
  };
}

/** @param isAside whether a rule that fails counts as a denial */
async function askAll(routes: readonly Route[], scope: OperationScope, isAside = false): Promise<Answers> {
  const shared = new Map<string, Promise<RouteAccess>>();
  const answers = await Promise.all(
    routes.map((route) => {
      const key = keyOf(route);
      const answer = (key === undefined ? undefined : shared.get(key)) ?? ask(route, scope, isAside);
      if (key !== undefined) shared.set(key, answer);
      return answer;
    }),
  );
  return new Map(routes.map((route, index) => [route, answers[index] as RouteAccess]));
}

/** Equal for routes with the same checks; undefined for routes whose rules may read the route itself. */
function keyOf({ rules, entity, access, obeys, path }: Route): string | undefined {
  if (rules !== undefined) return undefined;
  return JSON.stringify([entity?.name, access, obeys, path.split("/").includes(":id")]);
}

async function ask(route: Route, scope: OperationScope, isAside: boolean): Promise<RouteAccess> {
  try {
    return await scope.access.mayUse(route);
  } catch (error) {
    if (isAside || (isKeelsonError(error) && (error.status === 401 || error.status === 403))) return DENIED;
    throw error;
  }
}

/** The rights of a reader, on which their document depends. */
export interface ReaderView {
  /** The scope for descriptions of routes. Everything that they read from it becomes part of the key. */
  readonly scope: OperationScope;
  readonly routes: readonly Route[];
  /** The routes that anonymous callers may use for all records. */
  readonly open: ReadonlySet<Route>;
  /** Whether that is true of every route. */
  readonly isAllOpen: boolean;
  /** Entities of which the reader may read some or all records. */
  readonly reads: ReadonlySet<AnyEntity>;
  /**
   * Equal for readers with the same rights, including all questions that descriptions have asked so far for any reader.
   * Undefined if the document is for this reader only.
   */
  key(): Promise<string | undefined>;
}

/** Determines the rights of readers of one app. */
export type LookAtReader = (scope: OperationScope) => Promise<ReaderView>;

export function createReaderViews(context: PluginContext): LookAtReader {
  const { entities: model } = context;
  const own = new Set<AnyEntity>(model.entities);
  const all = [...model.entities, ...model.foreign];
  const findRoutes = createRouteFinder(context);
  const questions: Questions = new Map();

  return async (scope) => {
    for (const entity of all) scope.access.mask(entity);
    await scope.access.maskReady();
    const reads = new Set<AnyEntity>();
    const parts: unknown[] = [scope.principal.kind, scope.principal.isAdmin];
    for (const entity of all) {
      const { allowed, forSome } = await scope.access.readDecision(entity);
      if (allowed && own.has(entity)) reads.add(entity);
      parts.push(allowed, forSome, maskText(scope.access.mask(entity)));
    }
    const { routes, open, isAllOpen } = await findRoutes(scope);
    for (const route of routes) parts.push(route.method, route.path, open.has(route));
    parts.push(isAllOpen);
    const watched = watchScope(scope, questions);
    return {
      scope: watched.scope,
      routes,
      open,
      isAllOpen,
      reads,
      async key() {
        await watched.askAll();
        const answers = watched.answers();
        return watched.isPersonal || answers === undefined ? undefined : JSON.stringify([parts, answers]);
      },
    };
  };
}

const texts = new WeakMap<FieldMask, string>();

/** A mask as text. Field names contain no separators, so different masks have different texts. */
function maskText(mask: FieldMask): string {
  const { readable, writable, filterable, sortable, readablePerRow, writablePerRow } = mask;
  const known = texts.get(mask);
  if (known !== undefined) return known;
  const perRow = [readablePerRow?.keys() ?? [], writablePerRow?.keys() ?? []];
  const text = [readable, writable, filterable, sortable, ...perRow].map((names) => [...names].join()).join("|");
  texts.set(mask, text);
  return text;
}
