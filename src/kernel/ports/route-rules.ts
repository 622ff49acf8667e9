import type { OperationScope } from "../operations/scope.ts";
import type { Route } from "../routes/route.ts";

/** The service `rules.routes`: whether the rules of a route itself let a caller use it. */
export interface RouteRules {
  allow(route: Route, scope: OperationScope): Promise<boolean>;
}
