import { createPlugin, type Plugin, type PluginContext } from "../../gate/index.ts";
import { canJoin, joinInStatement } from "./include/join-in-statement.ts";
import { givesRelations, joinRelations } from "./include/join-relations.ts";
import { addLinkHooks } from "./links/write-links.ts";

/**
 * Includes and manyToMany writes without the routes of `crud`, which has them as well. An app has them also when another
 * plugin is in the place of `crud`, unless that plugin provides `relations` itself.
 */
export function relations(): Plugin {
  return createPlugin({ id: "relations", version: "1.0.0", provides: ["relations"], setup: addRelations });
}

/** What reads related records along, and what stores links. */
export function addRelations({ hooks, entities }: PluginContext): void {
  // Statements like the operation's own: the request's time limit counts, not the one for hooks.
  hooks.on("operation:plan", joinInStatement, { appliesTo: canJoin, timeout: 0 });
  hooks.on("operation:join", joinRelations, { appliesTo: givesRelations, timeout: 0 });
  addLinkHooks(hooks, entities);
}
