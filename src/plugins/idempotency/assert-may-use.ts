import type { OperationInput, OperationScope, Route } from "../../gate/index.ts";
import { AuthenticationError, AuthorizationError } from "../../kernel/index.ts";

/**
 * Asks the rules whether a caller may use a route, for some records or all: before anything is read of the request, and
 * before an answer of the past is shown. Which records they are is for the operations themselves.
 * @throws AuthenticationError, AuthorizationError
 */
export async function assertMayUse(route: Route, scope: OperationScope): Promise<void> {
  if (route.rules !== undefined && !(await scope.mayUse(route)).allowed)
    throw scope.principal.kind === "anonymous" ? new AuthenticationError() : new AuthorizationError();
  let refusal: unknown;
  for (const input of operationsOf(route)) {
    try {
      await scope.decide(input);
      return;
    } catch (error) {
      if (!(error instanceof AuthenticationError || error instanceof AuthorizationError)) throw error;
      refusal ??= error;
    }
  }
  if (refusal !== undefined) throw refusal;
}

/** What a route may be about to do, as far as rules look at it; any of them is enough. */
function operationsOf({ entity, access, obeys, path }: Route): readonly OperationInput[] {
  if (entity === undefined || access === undefined) return [];
  const isOnRecord = path.split("/").includes(":id");
  const kind = access === "read" && !isOnRecord ? "list" : access;
  const asked: OperationInput = { kind, access, entity, rules: obeys };
  // Rules of an action's own are about no record that is created (see the rules of actions).
  return obeys === undefined || isOnRecord ? [asked] : [asked, { kind: "list", access, entity, rules: obeys }];
}
