// relations: included records (batched, through the target's own rules) and manyToMany writes (spec 2.3, 4.1).
import { createPlugin, type Plugin } from "../../gate/index.ts";
import { canJoin, givesRelations, joinInStatement, joinRelations } from "./join-relations.ts";
import { addNestedHooks } from "./nested-writes.ts";
import { addLinkHooks } from "./write-links.ts";

// Hooks: operation:plan and operation:join (included relations), operation:normalize, operation:validate and
// operation:protect (links, nested writes).
// No routes and no options.

/** Reads related records along with others, and writes them by links and nested writes. Every app has this plugin. */
export function relations(): Plugin {
  return createPlugin({
    id: "relations",
    version: "1.0.0",
    setup({ hooks, entities }) {
      // These run statements of the operation, so the request's time limit applies, not the one for hooks.
      hooks.on("operation:plan", joinInStatement, { appliesTo: canJoin, timeout: 0 });
      hooks.on("operation:join", joinRelations, { appliesTo: givesRelations, timeout: 0 });
      addNestedHooks(hooks, entities, (pairsOf) => addLinkHooks(hooks, entities, pairsOf));
    },
  });
}
