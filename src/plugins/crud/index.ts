// crud: routes to create, list, read, update and delete records of every entity (spec 4.1).
import { createPlugin, type Plugin, QueryParser, RequestConditions } from "../../gate/index.ts";
import { addCrudRoutes, type FindConditions } from "./crud-routes.ts";

// No hooks and no options. Services used: QueryParser, RequestConditions.

/** Adds the routes to create, read, update and delete records, for every entity that is not internal (spec 4.1). */
export function crud(): Plugin {
  return createPlugin({
    id: "crud",
    version: "1.0.0",
    requires: ["rules", "validation", "query", "relations"],
    setup({ entities, routes, use, tryUse }) {
      const parser = use(QueryParser);
      // Looked up at request time, when all plugins are set up, in any order.
      const conditions: FindConditions = () => tryUse(RequestConditions);
      for (const entity of entities.entities) if (!entity.internal) addCrudRoutes(routes, entity, parser, conditions);
    },
  });
}
