import type { Route } from "../operation/route.ts";
import type { OperationScope } from "../operation/scope.ts";

/** The service `rules.routes`: whether the rules of a route itself let a caller use it. */
export interface RouteRules {
  allow(route: Route, scope: OperationScope): Promise<boolean>;
}
