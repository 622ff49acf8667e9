import type { LintRule } from "./finding.ts";

/** Endpoints and actions that nobody may call. Operations of entities may well be closed on purpose. */
export const routeWithoutRules: LintRule = {
  id: "route-without-rules",
  title: "Endpoint without rules",
  why: "It answers 401 and 403 to everybody, because what is not allowed is denied.",
  fix: "Add `rules` to the endpoint, or .rules(...) to the action.",
  level: "warning",
  find: ({ routes, model }) =>
    routes
      .filter(({ rules, entity, action }) => {
        if (rules.length > 0) return false;
        return entity === undefined || Object.hasOwn(model.get(entity)?.actions ?? {}, action);
      })
      .map(({ method, path, plugin }) => ({ at: `${method} ${path}`, what: `nobody may call it (plugin ${plugin})` })),
};
