import { type AnyEntity, ConfigurationError, resolveEntity } from "../../entity/index.ts";
import { isPromiseLike } from "../../kernel/index.ts";
import { entitiesOf, type JoinedEntities } from "./entities-of.ts";
import { remoteProblems } from "./remote-problems.ts";
import type { ServiceLookup } from "./stitch-context.ts";

/**
 * Checks that every remote relation can be followed: it is a `belongsTo`, the service it names is registered, and has a
 * function `fetchByIds`. For the last of these services are made, as their first use would make them; what a factory
 * promises is not waited for. Specification section 4.4.
 * @throws ConfigurationError listing all problems
 */
export function validateRemoteRelations(entities: JoinedEntities, container: ServiceLookup): void {
  const all = entitiesOf(entities).map((like) => resolveEntity(like) as AnyEntity);
  const problems = all.flatMap((entity) => remoteProblems(entity, container));
  const named = all.flatMap(({ relations }) => Object.values(relations).flatMap(({ remote }) => remote?.service ?? []));
  for (const name of new Set(named)) if (container.has(name)) problems.push(...serviceProblems(name, container));
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function serviceProblems(name: string, container: ServiceLookup): string[] {
  let service: unknown;
  try {
    service = container.resolve(name);
  } catch {
    return [`the service "${name}" cannot be made: its factory throws`];
  }
  if (isPromiseLike(service)) {
    service.then(undefined, () => {}); // the first use of the service reports the error
    return [];
  }
  if (typeof (service as { readonly fetchByIds?: unknown } | null | undefined)?.fetchByIds === "function") return [];
  return [`the service "${name}" has no function fetchByIds(entityName, ids, options)`];
}
