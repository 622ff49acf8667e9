// crud: create, list, read, update and delete of every entity over HTTP (spec 4.1), with the list dialect of json-server,
// includes (batched, through the target's own rules) and manyToMany writes.
import { createPlugin, type Plugin, type PluginContext, QueryParser, RequestConditions } from "../../gate/index.ts";
import { addCrudRoutes, type FindConditions } from "./crud-routes.ts";
import { canJoin, givesRelations, joinInStatement, joinRelations } from "./join-relations.ts";
import { createQueryParser } from "./query/parse-query.ts";
import { addLinkHooks } from "./write-links.ts";

// Hooks: operation:plan and operation:join (included relations), operation:normalize and operation:validate (links).
// No options.

// Service: QueryParser, for surfaces that take the same filters as lists. Service used: RequestConditions.

/** The routes to create, read, update and delete records, for every entity that is not internal (spec 4.1). */
export function crud(): Plugin {
  return createPlugin({
    id: "crud",
    version: "1.0.0",
    requires: ["rules", "validation"],
    provides: ["relations"],
    setup(context) {
      const { entities, provide, routes, tryUse } = context;
      const parser = createQueryParser(entities);
      provide(QueryParser, () => parser);
      // Asked for by requests: by then all plugins are set up, whatever their order.
      const conditions: FindConditions = () => tryUse(RequestConditions);
      for (const entity of entities.entities) if (!entity.internal) addCrudRoutes(routes, entity, parser, conditions);
      addRelations(context);
    },
  });
}

/**
 * Includes and manyToMany writes without the routes of `crud`, which has them as well. An app has them also when another
 * plugin is in the place of `crud`, unless that plugin provides `relations` itself.
 */
export function relations(): Plugin {
  return createPlugin({ id: "relations", version: "1.0.0", provides: ["relations"], setup: addRelations });
}

/** What reads related records along, and what stores links. */
function addRelations({ hooks, entities }: PluginContext): void {
  // Statements like the operation's own: the request's time limit counts, not the one for hooks.
  hooks.on("operation:plan", joinInStatement, { appliesTo: canJoin, timeout: 0 });
  hooks.on("operation:join", joinRelations, { appliesTo: givesRelations, timeout: 0 });
  addLinkHooks(hooks, entities);
}
