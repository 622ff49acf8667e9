import type { AnyEntity } from "../../entity/index.ts";
import type { ServiceLookup } from "./stitch-context.ts";

/** What is wrong with the remote relations of an entity, a sentence each. */
export function remoteProblems(entity: AnyEntity, container: Pick<ServiceLookup, "has">): string[] {
  return Object.entries(entity.relations).flatMap(([name, { remote, type }]) => {
    if (remote === undefined) return [];
    const at = `${entity.name}.${name}`;
    const problems: string[] = [];
    if (type !== "belongsTo")
      problems.push(`${at}: ${type} cannot be .remote(), since services are asked by id; use belongsTo`);
    const { service } = remote;
    if (service !== undefined && !container.has(service))
      problems.push(
        `${at}: there is no service "${service}"; register it with api.registerService("${service}", factory)`,
      );
    return problems;
  });
}
