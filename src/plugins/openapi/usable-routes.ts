import { isKeelsonError } from "../../entity/index.ts";
import type { OperationScope, PluginContext, Route, RouteAccess } from "../../kernel/index.ts";

/** The routes of a reader. */
export interface UsableRoutes {
  /** Those that the reader may use, for some records or all. For the system: those that are not closed to everybody. */
  readonly routes: readonly Route[];
  /** Those of them that callers without a name may use for all records. */
  readonly open: ReadonlySet<Route>;
  /** Whether every route of the app is such a one. */
  readonly isAllOpen: boolean;
}

export type FindUsableRoutes = (scope: OperationScope) => Promise<UsableRoutes>;

type Answers = ReadonlyMap<Route, RouteAccess>;

const DENIED: RouteAccess = Object.freeze({ allowed: false, forAll: false, rules: undefined });

/**
 * Asks the gate, as every request does, so that it does not matter which plugin decides.
 * @param context whose routes are complete when the first caller comes
 */
export function createRouteFinder(context: PluginContext): FindUsableRoutes {
  return async (scope) => {
    const all = context.routes.list();
    const { kind } = scope.principal;
    const anonymous =
      kind === "anonymous"
        ? await askAll(all, scope)
        : await context.runAs(null, (nobody) => askAll(all, nobody, true), { early: true });
    const isClosed = (route: Route): boolean =>
      (anonymous.get(route)?.rules ?? route.rules ?? route.obeys)?.length === 0;
    const own = kind === "user" ? await askAll(all, scope) : anonymous;
    const routes = all.filter((route) => (kind === "system" ? !isClosed(route) : own.get(route)?.allowed === true));
    const open = new Set(all.filter((route) => anonymous.get(route)?.forAll === true));
    return { routes, open, isAllOpen: open.size === all.length };
  };
}

/** @param isAside whether a rule that fails only means no */
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

/** The same for routes of which the same is asked; undefined where rules may look at the route itself. */
function keyOf({ rules, entity, access, obeys, path }: Route): string | undefined {
  if (rules !== undefined) return undefined;
  return JSON.stringify([entity?.name, access, obeys, path.split("/").includes(":id")]);
}

async function ask(route: Route, scope: OperationScope, isAside: boolean): Promise<RouteAccess> {
  try {
    return await scope.mayUse(route);
  } catch (error) {
    if (isAside || (isKeelsonError(error) && (error.status === 401 || error.status === 403))) return DENIED;
    throw error;
  }
}
