// Adds actions to entities: prebuilt ones, imports and exports, and custom ones by builder or as plain objects.
// Specification sections 4.2 and 4.3.
import { type AnyEntity, ConfigurationError } from "../../entity/index.ts";
import { createPlugin, FieldChecks, type Plugin, type PluginContext, RuleLists } from "../../gate/index.ts";
import { routeSegment } from "../../kernel/index.ts";
import { definitionOf } from "./action/action-definition.ts";
import { type ActionParts, type CompiledAction, compileAction } from "./action/compile-action.ts";
import { describeAction } from "./action/describe-action.ts";
import { clientCall, routeHandler } from "./action/run-action.ts";
import { addSoftDeletePolicy } from "./prebuilt/soft-deletion.ts";

export { ActionBuilder, action } from "./action/action-builder.ts";
export type { ActionContext, ActionRecord } from "./action/action-definition.ts";
export { exportAction } from "./export/export-action.ts";
export { importAction } from "./import/import-action.ts";

export { bulkDeleteAction, bulkUpdateAction } from "./prebuilt/bulk-actions.ts";
export { cloneAction } from "./prebuilt/clone-action.ts";
export { countAction, existsAction } from "./prebuilt/count-and-exists.ts";
export { archiveAction, toggleAction, unarchiveAction } from "./prebuilt/flag-actions.ts";
export { restoreAction, softDeleteAction } from "./prebuilt/soft-deletion.ts";

// Policy: soft-deleted records are hidden. No hooks, no options.

/** Used without the rules plugin's service: lists of rules need no compiling. */
const NO_LISTS: RuleLists = Object.freeze({ compile: () => {} });

/** Actions of entities, over HTTP and in the process. */
export function actions(): Plugin {
  return createPlugin({
    id: "actions",
    version: "1.0.0",
    requires: ["rules", "validation"],
    provides: ["soft-delete"],
    setup(context) {
      const { entities, problem, tryUse, use } = context;
      const parts: ActionParts = {
        fields: use(FieldChecks),
        rules: tryUse(RuleLists) ?? NO_LISTS,
        problem,
      };
      const compiled = entities.entities.flatMap((entity) => compileActions(context, parts, entity));
      for (const action of compiled) addRoutes(context, action);
      addSoftDeletePolicy(context, compiled);
    },
    start: assertServices,
  });
}

function compileActions(context: PluginContext, parts: ActionParts, entity: AnyEntity): CompiledAction[] {
  const attached = Object.entries(entity.actions);
  if (entity.internal && attached.length > 0) {
    context.problem(`${entity.name} is internal and has no routes, so it cannot have actions`);
    return [];
  }
  return attached.flatMap(([name, value]) => compileAction(parts, entity, name, value) ?? []);
}

function addRoutes(context: PluginContext, action: CompiledAction): void {
  const { name, entity, definition, method, path, access, rules } = action;
  const { description, timeout, aliases = [] } = definition;
  const handler = routeHandler(context, action);
  const meta = { ...(description === undefined ? {} : { description }), ...definition.meta };
  const describe = describeAction(context, action);
  const body = definition.readsBody === "raw" ? ({ as: "raw" } as const) : undefined;
  // A workflow runs in transactions of its own.
  const transactional = definition.workflow === undefined ? definition.transactional : false;
  const own = { timeout, body, transactional, meta, describe, handler };
  const shared = { action: name, entity, access, obeys: rules, ...own };
  const root = `/${routeSegment(entity)}`;
  context.routes.add({ ...shared, method, path: root + path, call: clientCall(context, action) });
  for (const alias of aliases) context.routes.add({ ...shared, method: alias.method, path: root + alias.path });
}

/** Services that actions need come from other plugins. They are checked here because most actions need none. */
function assertServices({ entities, has }: PluginContext): void {
  const missing = entities.entities.flatMap(({ name, actions: attached }) =>
    Object.entries(attached).flatMap(([action, value]) => {
      const found = definitionOf(value);
      const needs = typeof found === "string" ? [] : (found.needs ?? []);
      const absent = needs.filter((id) => !has(id));
      return absent.map((id) => `action "${action}" of ${name} needs the service "${id}", which no plugin provides`);
    }),
  );
  if (missing.length > 0) throw new ConfigurationError(missing);
}
