import type { OperationScope } from "../operation/operation-scope.ts";
import type { Route } from "../operation/route.ts";

/** The service `rules.routes`: whether the rules of a route itself let a caller use it. */
export interface RouteRules {
  allow(route: Route, scope: OperationScope): Promise<boolean>;
}
