import { isKeelsonError } from "../../entity/index.ts";
import type { OperationInput, OperationScope, PluginContext, Route, RouteRules } from "../../kernel/index.ts";

/** The rules of which one has to pass for a route; undefined where only its operations know. */
export function decidingRules({ config }: PluginContext, route: Route): readonly string[] | undefined {
  const { rules, obeys, entity, access } = route;
  if (rules !== undefined || obeys !== undefined) return rules ?? obeys;
  if (entity === undefined || access === undefined) return undefined;
  return (entity.rules ?? config.defaultRules)[access] ?? [];
}

/** A route, and what is asked about it. */
interface Asked {
  readonly route: Route;
  /** The operation that it runs, as far as rules look at it. */
  readonly input: OperationInput | undefined;
  /** The same for routes of which the same is asked. */
  readonly key: string;
}

/** Finds the routes that the caller of a scope may use, for some records or all. To the system, those that somebody may. */
export type FindUsableRoutes = (scope: OperationScope) => Promise<readonly Route[]>;

/** @param context whose routes are complete when the first caller comes */
export function createRouteFinder(context: PluginContext): FindUsableRoutes {
  let all: readonly Asked[] | undefined;
  return async (scope) => {
    all ??= context.routes.list().flatMap((route) => askedOf(context, route));
    const answers = new Map<string, Promise<boolean>>();
    const mayUse = async ({ route, input, key }: Asked): Promise<boolean> => {
      if (scope.principal.kind === "system") return true;
      if (route.rules !== undefined && !(await allowsRoute(context, route, scope))) return false;
      if (input === undefined) return true;
      const answer = answers.get(key) ?? allows(input, scope);
      answers.set(key, answer);
      return answer;
    };
    const allowed = await Promise.all(all.map(mayUse));
    return all.filter((_, index) => allowed[index]).map(({ route }) => route);
  };
}

/** Nothing for routes that nobody may use. */
function askedOf(context: PluginContext, route: Route): Asked[] {
  if (decidingRules(context, route)?.length === 0) return [];
  const input = operationOf(route);
  return [{ route, input, key: JSON.stringify([input?.kind, input?.access, route.entity?.name, input?.rules]) }];
}

/** Without anybody who knows rules, no route with rules is anybody's. */
async function allowsRoute({ services }: PluginContext, route: Route, scope: OperationScope): Promise<boolean> {
  const service = "rules.routes";
  return services.has(service) && (await services.resolve<RouteRules>(service).allow(route, scope));
}

/** The operation that a route runs, as far as rules look at it. */
function operationOf({ entity, access, obeys, path }: Route): OperationInput | undefined {
  if (entity === undefined || access === undefined) return undefined;
  const kind = access === "read" && !path.split("/").includes(":id") ? "list" : access;
  return { kind, access, entity, rules: obeys };
}

async function allows(input: OperationInput, scope: OperationScope): Promise<boolean> {
  try {
    return (await scope.decide(input)).allowed;
  } catch (error) {
    if (isKeelsonError(error) && (error.status === 401 || error.status === 403)) return false;
    throw error;
  }
}
