// crud: create, list, read, update and delete of every entity over HTTP (spec 4.1), with the list dialect of json-server,
// includes (batched, through the target's own rules) and manyToMany writes.
import { createPlugin, type Plugin, type PluginContext } from "../../gate/index.ts";
import type { FindConditions } from "./answer-with-record.ts";
import { addCrudRoutes } from "./crud-routes.ts";
import { createQueryParser } from "./query/create-query-parser.ts";
import { addRelations } from "./relations.ts";

export { relations } from "./relations.ts";

/** Service: a {@link QueryParser}, for surfaces that take the same filters as lists. */
const QUERY_SERVICE = "crud.query";

/** Service of another plugin, a {@link RequestConditions}; without it nobody keeps what requests ask of a record. */
const REQUESTS_SERVICE = "versions.requests";

/** The routes to create, read, update and delete records, for every entity that is not internal (spec 4.1). */
export function crud(): Plugin {
  return createPlugin({
    id: "crud",
    version: "1.0.0",
    requires: ["rules", "validation"],
    provides: ["relations"],
    setup,
  });
}

function setup(context: PluginContext): void {
  const { entities, services, routes } = context;
  const parser = createQueryParser(entities);
  services.register(QUERY_SERVICE, () => parser);
  // Asked for by requests: by then all plugins are set up, whatever their order.
  const conditions: FindConditions = () =>
    services.has(REQUESTS_SERVICE) ? services.resolve(REQUESTS_SERVICE) : undefined;
  const surface = { parser, conditions };
  for (const entity of entities.entities) if (!entity.internal) addCrudRoutes(routes, entity, surface);
  addRelations(context);
}
