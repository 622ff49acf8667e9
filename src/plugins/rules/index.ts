// Adds authorization: named rules, the five built-in ones, `defineRule` and `all`, and owners of records.
// Specification section 5.
import {
  createPlugin,
  FieldRules,
  type Plugin,
  type PluginContext,
  type PolicyQuestion,
  RuleLists,
} from "../../gate/index.ts";
import { unknownKeys } from "../../kernel/index.ts";
import { compilePlans, decide } from "./decide.ts";
import type { Rule } from "./rule.ts";
import { createFieldRules, createRouteRules, createRuleLists } from "./rule-services.ts";
import { createRuleTable } from "./rule-table.ts";
import { namesOwner, setOwner } from "./set-owner.ts";

export { filterReadableFields } from "./filter-readable-fields.ts";
export { filterWritableFields } from "./filter-writable-fields.ts";
export { filteringDriver } from "./filtering-driver.ts";
export {
  admin,
  all,
  authenticated,
  defineRule,
  everyone,
  owner,
  ownerOrAdmin,
  type Rule,
  type RuleFunction,
  type RuleResult,
} from "./rule.ts";

// Policy: rules of entities and actions. Hooks: route:authorize (endpoints with rules),
// operation:normalize (the owner on create and update).

/** Options of the `rules` plugin. */
export interface RulesOptions {
  /**
   * The rules of this app, by their names. Needed if several rules with the same name are defined in the process, and
   * entities refer to them by name instead of by the rule itself.
   * @default every rule that `defineRule` made
   */
  readonly rules?: readonly Rule[] | undefined;
}

const KNOWN: Readonly<Record<keyof RulesOptions, true>> = { rules: true };

/** Adds authorization. Without it, all operations of callers are denied. */
export function rules(options: RulesOptions = {}): Plugin {
  return createPlugin({
    id: "rules",
    version: "1.0.0",
    provides: ["rules"],
    setup(context) {
      const { hooks, log, problem, provide, records, routes } = context;
      refuseSharedIds(context);
      for (const sentence of unknownKeys(options, Object.keys(KNOWN))) problem(`rules: ${sentence}`);
      const table = createRuleTable(options.rules ?? [], problem);
      const fieldRules = createFieldRules(context, table);
      const plans = compilePlans(context, table);
      const lists = createRuleLists(context, table);
      provide(FieldRules, () => fieldRules);
      provide(RuleLists, () => lists);
      const allows = (operation: PolicyQuestion): void | Promise<void> => {
        const { rules: own, entity, access } = operation;
        const plan = own === undefined ? plans.get(entity)?.[access] : lists.planOf(own, entity);
        return plan === undefined ? undefined : decide(plan, operation);
      };
      records.policy({ name: "rules", allows });
      const ofRoutes = createRouteRules(table, log);
      routes.onRoute((route, report) => {
        ofRoutes.check(route, (sentence) =>
          report(`${route.method} ${route.path} of plugin "${route.plugin}": ${sentence}`),
        );
        return undefined;
      });
      hooks.on("route:authorize", ofRoutes.authorize);
      hooks.on("operation:normalize", setOwner, {
        appliesTo: namesOwner,
        timeout: 0, // it may evaluate read rules, which have their own time limits
      });
    },
  });
}

/** Refuses two entities with `.ownedBy("id")`: the caller "1" of one entity would own the record "1" of the other. */
function refuseSharedIds({ entities, problem }: PluginContext): void {
  const [first, ...others] = entities.entities.filter(({ ownedBy }) => ownedBy === "id").map(({ name }) => name);
  for (const name of others)
    problem(
      `${name}: .ownedBy("id") is for the entity of the callers, and ${first} has it already: a caller would own the records of both that have their id. Give ${name} a belongsTo relation to ${first}, and name it in .ownedBy()`,
    );
}
