import { ConfigurationError } from "../../entity/index.ts";
import type { PluginContext } from "../../gate/index.ts";
import { remoteProblems } from "./remote-problems.ts";

/**
 * Checks the remote relations of an app when it starts, without creating a service. Outside production it also warns of
 * entities whose records no caller can see.
 * @throws ConfigurationError listing all problems
 */
export function checkRelations({ entities: model, services, config, log }: PluginContext): void {
  const problems = model.entities.flatMap((entity) => remoteProblems(entity, services));
  for (const { source, name, remote, target } of model.entities.flatMap(model.relationsOf))
    if (remote !== undefined && remote.service === undefined && model.get(target.name) === undefined)
      problems.push(
        `${source.name}.${name}: .remote() without a service reads "${target.name}" with the app's own driver; add it to \`entities\`, or name the service`,
      );
  if (problems.length > 0) throw new ConfigurationError(problems);
  if (config.production) return;
  for (const { name, rules = config.defaultRules } of model.foreign)
    if ((rules.read ?? []).length === 0)
      log.warn(`${name} has no read rule, so nobody sees its records: includes of them are null`);
}
